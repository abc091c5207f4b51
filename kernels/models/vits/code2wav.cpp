#include "kernels/models/vits/code2wav.hpp"

#include <algorithm>
#include <cmath>

namespace omni::vits {
namespace {

// The vocoder looks 11 to 13 frames ahead, so a first step of 24 gives about a seventh of a second of sound.
constexpr std::int64_t first_rows = 24;
// A step is bounded by its work, so that a large voice does not keep the others of its replica waiting.
constexpr std::int64_t step_flops = 4'000'000'000;

std::shared_ptr<const payload> samples_payload(const std::vector<float>& values, std::int32_t sample_rate) {
  auto samples = make_payload<float>(payload::kind::samples, values, 1);
  samples->sample_rate = sample_rate;
  return samples;
}

} // namespace

vocoder_weights::vocoder_weights(const voice_config& config, const voice_graph& graph)
    : voice(config), speakers(graph, config.speakers), vocoder(graph, speakers.width()) {}

code2wav::code2wav(std::shared_ptr<const vocoder_weights> weights, std::int64_t speaker)
    : weights_(std::move(weights)), bias_(weights_->vocoder.speaker_bias(weights_->speakers.row(speaker))),
      next_rows_(first_rows),
      most_rows_(std::clamp<std::int64_t>(step_flops / weights_->vocoder.flops_per_frame(), 16, 64)) {}

item_result code2wav::step(const batch_item& item, const op_context& context) {
  item_result result;
  if (item.input && !input_ended_) {
    result.input_problem = problem_of(*item.input);
    if (!result.input_problem.empty()) return result;
    waiting_.push_back(item.input);
  }
  input_ended_ |= item.end_of_input;
  std::vector<float> samples;
  decode_some(samples, context);
  if (!samples.empty()) result.outputs.push_back(samples_payload(samples, weights_->voice.sample_rate));
  result.input_used_up = waiting_.empty();
  result.finished = input_ended_ && waiting_.empty();
  return result;
}

std::string code2wav::problem_of(const payload& frames) const {
  const auto width = weights_->vocoder.frame_width();
  if (frames.holds(payload::kind::rows, dtype::f32, width)) return {};
  return "The vocoder got rows of " + std::to_string(frames.width) + " values where it needs frames of " +
         std::to_string(width) + " F32 values: the stages before it run another voice.";
}

void code2wav::decode_some(std::vector<float>& samples, const op_context& context) {
  auto budget = next_rows_;
  next_rows_ = std::min(2 * next_rows_, most_rows_);
  while (!waiting_.empty() && budget > 0) {
    const auto& frames = *waiting_.front();
    const auto count = std::min(budget, frames.rows - taken_);
    const bool all = taken_ + count == frames.rows;
    const bool ends = all && frames.ends_segment;
    if (frames.rows == 0 && !sentence_) { // a pause
      const auto pause = static_cast<std::size_t>(std::lround(pause_seconds * weights_->voice.sample_rate));
      if (frames.ends_segment) samples.resize(samples.size() + pause, 0.0F);
    } else {
      if (!sentence_) sentence_.emplace(weights_->vocoder, bias_);
      sentence_->decode(frames.f32() + taken_ * frames.width, count, ends, samples, context);
      if (ends) sentence_.reset();
    }
    budget -= count;
    taken_ += count;
    if (!all) continue;
    waiting_.pop_front();
    taken_ = 0;
  }
  if (!input_ended_ || !waiting_.empty() || !sentence_) return;
  sentence_->decode(nullptr, 0, true, samples, context); // the input ended within a sentence
  sentence_.reset();
}

} // namespace omni::vits
