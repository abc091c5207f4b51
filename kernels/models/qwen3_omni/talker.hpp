#pragma once

#include "kernels/models/qwen3_omni/talker_model.hpp"
#include "kernels/models/stage_model.hpp"

namespace omni::qwen3_omni {

/// The talker stage of a checkpoint folder: see `talker_runner`. Throws `load_error`.
std::shared_ptr<const stage_model> load_talker(const stage_model_spec& spec);

} // namespace omni::qwen3_omni
