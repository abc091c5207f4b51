#pragma once

#include "kernels/models/qwen3_omni/vocoder.hpp"
#include "kernels/models/stage_model.hpp"
#include "kernels/runtime/stream_runner.hpp"

#include <memory>
#include <optional>

namespace omni::qwen3_omni {

/// One request's way from frames of codes to sound. The first step takes one frame, so that sound begins soon; later
/// ones take more, since weights are then read once for all of them.
class code2wav final : public stream_sequence {
public:
  explicit code2wav(std::shared_ptr<const vocoder> model);
  /// Input: `rows` of I32, [frames, groups]. Output: `samples` of F32, mono, in -1..1.
  item_result step(const batch_item& item, const op_context& context) override;

private:
  /// Why a payload cannot be spoken; empty if it can.
  [[nodiscard]] std::string problem_of(const payload& frames) const;

  std::shared_ptr<const vocoder> model_;
  vocoder::stream stream_;
  std::vector<std::int32_t> waiting_; // codes that were not taken yet
  std::size_t taken_ = 0;             // of them
  bool input_ended_ = false;
  std::int64_t next_frames_ = 1;
  std::int64_t most_frames_;
};

/// The code2wav stage of a checkpoint folder. Throws `load_error`.
std::shared_ptr<const stage_model> load_code2wav(const stage_model_spec& spec);

} // namespace omni::qwen3_omni
