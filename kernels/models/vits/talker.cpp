#include "kernels/models/vits/talker.hpp"

#include "kernels/models/vits/phoneme_ids.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace omni::vits {
namespace {

// Attention costs the square of a sentence's length. A phoneme is two ids or a few more.
constexpr std::size_t most_phonemes = 400;
constexpr std::size_t most_ids = 2048;

// The flow looks 32 frames ahead. The first step gives the vocoder just enough to begin; later ones are larger, since a
// larger step costs less per frame.
constexpr std::int64_t first_rows = 56;
constexpr std::int64_t most_rows = 256;

std::shared_ptr<const text::phonemizer> phonemizer_of(const voice_config& voice) {
  return voice.source == phoneme_source::text ? text::make_character_phonemizer()
                                              : text::load_espeak_phonemizer(voice.espeak_voice);
}

std::shared_ptr<const payload> frames_payload(const std::vector<float>& values, std::int64_t width, bool ends) {
  auto frames = make_payload<float>(payload::kind::rows, values, width);
  frames->ends_segment = ends;
  return frames;
}

} // namespace

talker_weights::talker_weights(const voice_config& config, const voice_graph& graph)
    : voice(config), phonemizer(phonemizer_of(config)), speakers(graph, config.speakers),
      encoder(graph, config.symbols), durations(duration_predictor::load(graph, encoder.width(), speakers.width())),
      flow(graph, encoder.latent_width(), speakers.width()) {}

utterance::utterance(const talker_weights& weights, const speech_style& style, std::span<const std::int64_t> ids,
                     std::uint32_t number, const std::vector<std::vector<float>>& flow_biases,
                     const op_context& context)
    : weights_(weights), style_(style), prior_noise_(style.seed, noise::purpose::prior, number),
      flow_(weights.flow, flow_biases) {
  const workspace::scope scope(context.scratch);
  const auto text = weights.encoder.run(ids, context);
  prior_.assign(text.prior, text.prior + text.symbols * 2 * weights.encoder.latent_width());
  std::vector<float> logs(ids.size());
  weights.durations->run(text, weights.speakers.row(style.speaker),
                         noise(style.seed, noise::purpose::durations, number), style.noise_w, logs, context);
  for (const float log_duration : logs) {
    const float frames = std::ceil(std::exp(log_duration) * style.length_scale);
    // Not a number, infinite and absurd ones all end as a sentence that is too long.
    durations_.push_back(frames <= static_cast<float>(most_frames) ? static_cast<std::int64_t>(frames)
                                                                   : most_frames + 1);
    frames_ += durations_.back();
  }
  if (frames_ == 0) durations_.front() = frames_ = 1;
}

bool utterance::next(std::int64_t count, std::vector<float>& out, const op_context& context) {
  count = std::min(count, frames_ - next_frame_);
  std::vector<float> sampled;
  sample_prior(count, sampled);
  const bool last = next_frame_ == frames_;
  flow_.run(sampled.data(), count, last, out, context);
  return last;
}

/// z = mean + noise * exp(log deviation) * scale, frame by frame.
void utterance::sample_prior(std::int64_t count, std::vector<float>& out) {
  const auto width = weights_.encoder.latent_width();
  out.resize(static_cast<std::size_t>(count * width));
  float* z = out.data();
  for (std::int64_t i = 0; i < count; ++i, ++next_frame_, ++in_symbol_, z += width) {
    while (in_symbol_ == durations_[symbol_]) ++symbol_, in_symbol_ = 0;
    const float* mean = prior_.data() + static_cast<std::int64_t>(symbol_) * 2 * width;
    std::copy_n(mean, width, z);
    if (style_.noise_scale == 0) continue;
    std::vector<float> normal(static_cast<std::size_t>(width));
    prior_noise_.fill(static_cast<std::uint64_t>(next_frame_ * width), width, normal.data());
    for (std::int64_t c = 0; c < width; ++c)
      z[c] += normal[static_cast<std::size_t>(c)] * std::exp(mean[width + c]) * style_.noise_scale;
  }
}

talker::talker(std::shared_ptr<const talker_weights> weights, const speech_style& style)
    : weights_(std::move(weights)), style_(style),
      flow_biases_(weights_->flow.speaker_biases(weights_->speakers.row(style.speaker))), next_rows_(first_rows) {}

item_result talker::step(const batch_item& item, const op_context& context) {
  item_result result;
  hear(item);
  if (!current_) start_next(result, context);
  if (!result.input_problem.empty()) return result;
  if (current_) {
    std::vector<float> frames;
    const bool last = current_->next(next_rows_, frames, context);
    next_rows_ = std::min(2 * next_rows_, most_rows);
    if (!frames.empty() || last) result.outputs.push_back(frames_payload(frames, weights_->flow.width(), last));
    if (last) current_.reset();
  }
  result.input_used_up = !current_ && segments_.empty() && sentences_.empty();
  result.finished = input_ended_ && result.input_used_up;
  return result;
}

void talker::hear(const batch_item& item) {
  const auto take = [&](std::vector<text::spoken_segment> certain) {
    for (auto& segment : certain) segments_.push_back(std::move(segment));
  };
  if (item.input && item.input->what == payload::kind::text && !input_ended_)
    take(segmenter_.push(speakable_.push(item.input->text)));
  if (!item.end_of_input || std::exchange(input_ended_, true)) return;
  take(segmenter_.push(speakable_.finish()));
  take(segmenter_.finish());
}

void talker::queue_segment(const text::spoken_segment& segment) {
  bool pause = std::exchange(sentence_ended_, segment.ends_sentence);
  for (const auto& sentence : weights_->phonemizer->phonemes(segment.text)) {
    for (const auto piece : split_phonemes(sentence, most_phonemes)) {
      auto ids = phoneme_ids(weights_->voice, piece);
      if (ids.empty()) continue;
      sentences_.push_back({std::move(ids), pause});
      pause = false;
    }
    pause = true;
  }
}

void talker::start_next(item_result& result, const op_context& context) {
  while (sentences_.empty() && !segments_.empty()) {
    queue_segment(segments_.front());
    segments_.pop_front();
  }
  if (sentences_.empty()) return;
  const auto next = std::move(sentences_.front());
  sentences_.pop_front();
  if (next.ids.size() > most_ids) {
    result.input_problem = "The voice would need " + std::to_string(next.ids.size()) +
                           " ids for one sentence of this text, the most are " + std::to_string(most_ids) +
                           ": take another voice.";
    return;
  }
  if (next.pause_before) result.outputs.push_back(frames_payload({}, weights_->flow.width(), true));
  current_ = std::make_unique<utterance>(*weights_, style_, next.ids, sentences_begun_++, flow_biases_, context);
  if (current_->too_long())
    result.input_problem = "The voice would speak a sentence of this text for longer than " +
                           std::to_string(utterance::most_frames) + " frames: ask for a higher speed or another voice.";
}

} // namespace omni::vits
