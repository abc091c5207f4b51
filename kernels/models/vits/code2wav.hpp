#pragma once

#include "kernels/models/vits/hifigan.hpp"
#include "kernels/models/vits/voice_config.hpp"
#include "kernels/runtime/stream_runner.hpp"

#include <deque>
#include <memory>
#include <optional>

namespace omni::vits {

/// The half of a voice that turns vocoder frames into samples. Read-only, shared by the replicas of a stage.
struct vocoder_weights {
  /// Throws `load_error`.
  vocoder_weights(const voice_config& config, const voice_graph& graph);

  voice_config voice;
  speaker_table speakers;
  hifigan vocoder;
};

/// The vocoder's side of one request: frames in, samples out, a bounded number of frames in each step. The first step
/// is small, so that sound begins soon. Samples are what the network gives, in -1..1, without any gain: the peak of a
/// sentence is not known while it streams, and a stream must equal the whole.
class code2wav final : public stream_sequence {
public:
  code2wav(std::shared_ptr<const vocoder_weights> weights, std::int64_t speaker);
  item_result step(const batch_item& item, const op_context& context) override;

  /// Silence between sentences, the pause of Piper's command line.
  static constexpr double pause_seconds = 0.2;

private:
  /// Why a payload cannot be spoken; empty if it can.
  [[nodiscard]] std::string problem_of(const payload& frames) const;
  void decode_some(std::vector<float>& samples, const op_context& context);

  std::shared_ptr<const vocoder_weights> weights_;
  std::vector<float> bias_; // of the speaker
  std::deque<std::shared_ptr<const payload>> waiting_;
  std::int64_t taken_ = 0; // rows of the first of them
  std::optional<hifigan::stream> sentence_;
  bool input_ended_ = false;
  std::int64_t next_rows_;
  std::int64_t most_rows_;
};

} // namespace omni::vits
