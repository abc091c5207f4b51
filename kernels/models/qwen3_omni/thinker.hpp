#pragma once

#include "kernels/models/decoder/decoder_model.hpp"
#include "kernels/models/qwen3_omni/model_config.hpp"

namespace omni::qwen3_omni {

/// The text decoder of a checkpoint folder whose configuration was read. Throws `load_error`.
std::shared_ptr<const decoder_model> load_thinker_decoder(const std::filesystem::path& folder,
                                                          const model_config& config,
                                                          std::shared_ptr<const checkpoint> file, bool as_f32);

/// The thinker stage of a checkpoint folder: text, sounds and pictures to text, and to the talker what it needs.
/// Throws `load_error`.
std::shared_ptr<const stage_model> load_thinker(const stage_model_spec& spec);

} // namespace omni::qwen3_omni
