#include "kernels/models/qwen3_omni/talker_sequence.hpp"

#include "kernels/core/check.hpp"

#include <algorithm>
#include <limits>

namespace omni::qwen3_omni {
namespace {

/// The last codes of the vocabulary are special; only the end may be chosen among them.
constexpr std::int64_t special_codes = 1024;

sampling_params without_special_codes(sampling_params sampling, const talker_config& config) {
  const std::int64_t vocab = config.decoder.vocab;
  for (std::int64_t id = std::max<std::int64_t>(0, vocab - special_codes); id < vocab; ++id)
    if (id != config.eos)
      sampling.logit_bias.emplace_back(static_cast<std::int32_t>(id), -std::numeric_limits<float>::infinity());
  return sampling;
}

/// The code predictor's own way of sampling: as the reference, unless the talker is greedy.
sampling_params of_other_codes(const sampling_params& first) {
  sampling_params sampling;
  sampling.temperature = first.temperature == 0.0F ? 0.0F : 1.0F;
  sampling.top_k = 50;
  sampling.top_p = 0.8F;
  constexpr std::uint64_t other_stream = 0x9E3779B97F4A7C15U; // its draws have nothing to do with those of first codes
  if (first.seed) sampling.seed = *first.seed ^ other_stream;
  return sampling;
}

sampler sampler_of(const sampling_params& params, std::span<const std::int32_t> end, std::int64_t vocab) {
  return {params, {}, end, static_cast<std::int32_t>(vocab)};
}

} // namespace

talker_sequence::talker_sequence(const talker_model& model, const sampling_params& sampling, std::int32_t speaker_code)
    : model_(model), speaker_code_(speaker_code),
      first_(sampler_of(without_special_codes(sampling, model.config()), std::span(&model.config().eos, 1),
                        model.config().decoder.vocab)),
      others_(sampler_of(of_other_codes(sampling), {}, model.config().predictor.vocab)),
      most_frames_(sampling.max_tokens > 0 ? sampling.max_tokens - 1 : std::numeric_limits<std::int64_t>::max()) {}

const float* talker_sequence::row(std::int64_t index) const { return rows_.data() + index * model_.hidden(); }

std::string talker_sequence::hear(const batch_item& item) {
  input_ended_ |= item.end_of_input;
  if (!item.input) return {};
  const auto& input = *item.input;
  if (!prompt_) return hear_prompt(input);
  if (!input.holds(payload::kind::tokens, dtype::i32, 1))
    return "The talker got something else than tokens of the reply: the stage before it runs another model.";
  reply_.insert(reply_.end(), input.i32(), input.i32() + input.rows);
  return {};
}

std::string talker_sequence::hear_prompt(const payload& input) {
  const std::int64_t hidden = model_.thinker_hidden(), width = handed_width(hidden);
  if (input.holds(payload::kind::rows, dtype::f32, width)) {
    for (std::int64_t r = 0; r < input.rows; ++r) {
      const float* const row = input.f32() + r * width;
      media_positions_.emplace_back(row[0], row[1], row[2]);
      media_.insert(media_.end(), row + 3, row + width);
    }
    return {};
  }
  if (!input.holds(payload::kind::tokens, dtype::i32, 1) || !input.ends_segment)
    return "The talker needs the prompt's tokens first and got something else: the stage before it runs another model.";
  const std::span prompt(input.i32(), static_cast<std::size_t>(input.rows));
  const auto media = std::count_if(prompt.begin(), prompt.end(), [&](auto id) { return model_.tokens().is_media(id); });
  if (static_cast<std::size_t>(media) != media_positions_.size())
    return "The talker got " + std::to_string(media_positions_.size()) + " rows for the " + std::to_string(media) +
           " places of media in the prompt: the stage before it runs another model.";
  if (std::any_of(prompt.begin(), prompt.end(), [&](auto id) { return id < 0 || id >= model_.thinker_vocab(); }))
    return "The talker got a token that its model does not know: the stage before it runs another model.";
  prompt_ = read_talker_prompt(prompt, media_positions_, model_.tokens());
  reply_ = prompt_->reply;
  return prompt_->problem;
}

std::optional<std::int32_t> talker_sequence::text_due() const {
  if (frame_.empty() || finished()) return std::nullopt;
  // The token of frame s is t_(s+1); behind the last one stands the end of the text, then silence.
  const auto token = static_cast<std::size_t>(frames_); // s = frames_ - 1
  if (token < reply_.size()) return reply_[token];
  if (!input_ended_) return std::nullopt;
  return token == reply_.size() ? model_.tokens().tts_eos : model_.tokens().tts_pad;
}

void talker_sequence::take_text(const float* text) {
  for (std::size_t i = 0; i < frame_.size(); ++i) frame_[i] += text[i];
  const float position = positions_.back().time + 1.0F;
  append(frame_.data(), {position, position, position});
  frame_.clear();
}

/// All that was heard of the user, and the rows that open the reply: see spec "Talker prefill layout".
void talker_sequence::make_prompt_rows(const op_context& context) {
  if (!prompt_due()) return;
  const workspace::scope scope(context.scratch);
  const auto& t = model_.tokens();
  const auto& c = model_.config();
  std::vector<std::int32_t> texts;
  for (const auto& heard : prompt_->heard)
    if (heard.media < 0) texts.push_back(heard.text);
  const std::size_t heard_texts = texts.size();
  texts.insert(texts.end(), prompt_->opening.begin(), prompt_->opening.end());
  texts.insert(texts.end(), {t.tts_pad, t.tts_pad, t.tts_pad, t.tts_pad, t.tts_bos, reply_.front()});
  const tensor text = model_.text_rows(texts, context);
  const auto media_count = static_cast<std::int64_t>(media_positions_.size());
  tensor media;
  if (media_count > 0)
    media = model_.media_rows(tensor(media_.data(), {media_count, model_.thinker_hidden()}), context);
  const std::int32_t codes[] = {c.nothink, c.think_bos, c.think_eos, speaker_code_, c.pad, c.bos};
  const tensor code = model_.code_rows(codes, context);

  const std::int64_t width = model_.hidden();
  std::int64_t next_text = 0;
  for (const auto& heard : prompt_->heard)
    append(heard.media < 0 ? text.f32() + next_text++ * width : media.f32() + heard.media * width, heard.position);
  OMNI_CHECK(next_text == static_cast<std::int64_t>(heard_texts), "each text is heard once");
  for (std::int64_t i = 0; i < code.values(); ++i) text.f32()[(next_text + 3) * width + i] += code.f32()[i];
  for (float position = prompt_->next_position; next_text < text.rows(); ++next_text, position += 1.0F)
    append(text.f32() + next_text * width, {position, position, position});
  media_.clear();
  media_.shrink_to_fit();
}

void talker_sequence::append(const float* row, const rope_position& position) {
  rows_.insert(rows_.end(), row, row + model_.hidden());
  positions_.push_back(position);
}

std::optional<std::int32_t> talker_sequence::choose_first(float* logits) {
  const auto code = first_.choose(logits, frames_).id;
  const std::int32_t chosen[] = {code};
  first_.fed(frames_, chosen);
  cut_ = code != model_.config().eos && frames_ == most_frames_;
  finished_ = cut_ || code == model_.config().eos;
  return finished_ ? std::nullopt : std::optional(code);
}

std::int32_t talker_sequence::choose_other(std::int64_t group, float* logits) const {
  return others_.choose(logits, frames_ * (model_.config().code_groups - 1) + group - 1).id;
}

void talker_sequence::take_frame(const float* embeddings) {
  frame_.assign(embeddings, embeddings + model_.hidden());
  ++frames_;
}

} // namespace omni::qwen3_omni
