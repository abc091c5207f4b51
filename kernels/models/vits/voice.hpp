#pragma once

#include "kernels/models/stage_cost.hpp"

#include <memory>

namespace omni::vits {

/// Loads one half of a Piper voice: its .onnx file, with the .onnx.json beside it.
/// "talker": text in, vocoder frames out. Throws `load_error`.
std::shared_ptr<const stage_model> load_talker(const stage_model_spec& spec);
/// "code2wav": vocoder frames in, samples out. Throws `load_error`.
std::shared_ptr<const stage_model> load_code2wav(const stage_model_spec& spec);

/// What the header of the file says: its weights, in F32 as they are held. Both halves lie in one file, so they are
/// counted with the talker. Throws `load_error`.
stage_cost cost_of_voice(const stage_model_spec& spec, const cost_question& question);

} // namespace omni::vits
