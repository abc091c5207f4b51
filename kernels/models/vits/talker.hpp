#pragma once

#include "kernels/models/vits/durations.hpp"
#include "kernels/models/vits/flow.hpp"
#include "kernels/models/vits/speaker.hpp"
#include "kernels/models/vits/text_encoder.hpp"
#include "kernels/models/vits/voice_config.hpp"
#include "kernels/runtime/stream_runner.hpp"
#include "kernels/text/phonemizer.hpp"
#include "kernels/text/segmenter.hpp"
#include "kernels/text/speakable.hpp"

#include <deque>
#include <memory>
#include <optional>
#include <vector>

namespace omni::vits {

/// The half of a voice that turns text into vocoder frames. Read-only, shared by the replicas of a stage.
struct talker_weights {
  /// Throws `load_error`.
  talker_weights(const voice_config& config, const voice_graph& graph);

  voice_config voice;
  std::shared_ptr<const text::phonemizer> phonemizer;
  speaker_table speakers;
  text_encoder encoder;
  std::unique_ptr<duration_predictor> durations;
  latent_flow flow;
};

/// How one request is spoken.
struct speech_style {
  std::int64_t speaker = 0;
  float length_scale = 1.0F; // above 1 is slower
  float noise_scale = 0.0F;  // of the prior
  float noise_w = 0.0F;      // of durations
  std::uint64_t seed = 0;
};

/// One sentence on its way to frames. What it gives out depends neither on the sizes it is asked for nor on threads.
class utterance {
public:
  /// Encodes the sentence and fixes the durations of its symbols. `number` counts the sentences of a request: it picks
  /// the noise. `flow_biases` are the speaker's; they and the weights must outlive the utterance.
  utterance(const talker_weights& weights, const speech_style& style, std::span<const std::int64_t> ids,
            std::uint32_t number, const std::vector<std::vector<float>>& flow_biases, const op_context& context);

  /// Frames of each symbol.
  [[nodiscard]] const std::vector<std::int64_t>& durations() const { return durations_; }
  /// Mean and logarithm of the standard deviation of each symbol's prior: [symbols, 2 * latent].
  [[nodiscard]] const std::vector<float>& prior() const { return prior_; }
  [[nodiscard]] std::int64_t frames() const { return frames_; }
  /// A sentence that lasts longer is refused: the voice or the request is not sane.
  [[nodiscard]] bool too_long() const { return frames_ > most_frames; }

  /// Appends the next frames [n, latent], those that `count` more frames of the prior allow; true when all are out.
  bool next(std::int64_t count, std::vector<float>& out, const op_context& context);

  static constexpr std::int64_t most_frames = 1 << 15;

private:
  void sample_prior(std::int64_t count, std::vector<float>& out);

  const talker_weights& weights_;
  speech_style style_;
  noise prior_noise_;
  std::vector<float> prior_;
  std::vector<std::int64_t> durations_;
  std::int64_t frames_ = 0;
  latent_flow::stream flow_;
  std::int64_t next_frame_ = 0;
  std::size_t symbol_ = 0;     // of next_frame_
  std::int64_t in_symbol_ = 0; // frames of it that are out
};

/// The talker's side of one request: text in pieces, frames out, sentence by sentence.
/// A payload without rows that ends a segment is a pause between sentences.
class talker final : public stream_sequence {
public:
  talker(std::shared_ptr<const talker_weights> weights, const speech_style& style);
  item_result step(const batch_item& item, const op_context& context) override;

private:
  struct spoken {
    std::vector<std::int64_t> ids;
    bool pause_before = false;
  };

  void hear(const batch_item& item);
  /// Makes the next sentence the current one, if there is one.
  void start_next(item_result& result, const op_context& context);
  void queue_segment(const text::spoken_segment& segment);

  std::shared_ptr<const talker_weights> weights_;
  speech_style style_;
  std::vector<std::vector<float>> flow_biases_; // of the speaker
  text::speakable speakable_;
  text::segmenter segmenter_;
  std::deque<text::spoken_segment> segments_; // not phonemised yet
  std::deque<spoken> sentences_;              // phonemised
  std::unique_ptr<utterance> current_;
  std::uint32_t sentences_begun_ = 0;
  bool sentence_ended_ = false; // the segment phonemised last ended a sentence
  bool input_ended_ = false;
  std::int64_t next_rows_; // of the prior, in the next step
};

} // namespace omni::vits
