#pragma once

#include "kernels/models/stage_model.hpp"

#include <memory>

namespace omni::vits {

/// Loads one half of a Piper voice: its .onnx file, with the .onnx.json beside it.
/// "talker": text in, vocoder frames out. Throws `load_error`.
std::shared_ptr<const stage_model> load_talker(const stage_model_spec& spec);
/// "code2wav": vocoder frames in, samples out. Throws `load_error`.
std::shared_ptr<const stage_model> load_code2wav(const stage_model_spec& spec);

} // namespace omni::vits
