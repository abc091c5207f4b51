#include "app/openai/speech_request.hpp"

#include "app/openai/fields.hpp"
#include "kernels/core/error.hpp"
#include "kernels/text/tokenizer.hpp"

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

namespace omni::openai {
namespace {

constexpr std::size_t max_input_bytes = 64 * 1024; // an hour of speech, more or less

/// Fields that would change the sound and that this voice cannot honour.
void refuse_unsupported(fields& from, const pipeline_facts& pipeline) {
  const auto rate = from.integer("sample_rate", 1, 384'000);
  if (rate && *rate != pipeline.sample_rate)
    from.refuse("sample_rate",
                "must be " + std::to_string(pipeline.sample_rate) + ", the rate of this server's voice, or absent");
  for (const char* name : {"ref_audio", "ref_text", "speaker_embedding"})
    if (from.find(name) != nullptr)
      from.refuse_with(name, std::string(name) + " is not supported: this server's voice cannot be cloned.");
  if (from.boolean("word_timestamps").value_or(false))
    from.refuse_with("word_timestamps", "word_timestamps is not supported by this server's voice: leave it out.");
}

std::int64_t count_tokens(const std::string& text, const pipeline_facts& pipeline) {
  if (pipeline.tokenizer != nullptr)
    return std::int64_t(pipeline.tokenizer->encode(text, text::specials::as_text).size());
  return std::count_if(text.begin(), text.end(),
                       [](char c) { return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U; });
}

} // namespace

expected<speech_request> read_speech(const json& body, std::shared_ptr<const pipeline_facts> facts) {
  const pipeline_facts& pipeline = *facts;
  if (!pipeline.audio_output)
    return fail(
        errc::invalid_request,
        "This server's pipeline does not speak: start one with a voice stage, e.g. omni-serve --model VOICE.onnx.",
        "input");
  std::optional<failure> problem;
  fields from(body, "", problem);
  speech_request into;
  auto input = from.text("input");
  if (!input)
    from.refuse("input", "must be a string: the text to say");
  else if (input->size() > max_input_bytes)
    from.refuse_with("input", "input may have at most " + std::to_string(max_input_bytes) + " bytes, found " +
                                  std::to_string(input->size()) + ".");
  else if (std::all_of(input->begin(), input->end(), [](char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }))
    from.refuse_with("input", "input must have something to say.");
  for (const char* name : {"speaker", "voice"})
    if (auto speaker = read_speaker(from, name, pipeline.speakers)) into.work.voice.speaker = std::move(*speaker);
  if (const auto speed = from.number("speed", 0.25, 4)) into.work.voice.speed = float(*speed);
  const auto seed =
      from.integer("seed", std::numeric_limits<std::int64_t>::min(), std::numeric_limits<std::int64_t>::max());
  if (seed) into.work.voice.seed = static_cast<std::uint64_t>(*seed);
  if (const auto format = read_sound_format(from, "response_format")) into.format = *format;
  const bool stream = from.boolean("stream").value_or(false);
  const auto form = from.choice("stream_format", {"audio", "sse"});
  using delivery = speech_request::delivery;
  into.how = form == "audio" ? delivery::bytes : stream || form == "sse" ? delivery::events : delivery::whole;
  refuse_unsupported(from, pipeline);
  if (problem) return tl::unexpected(std::move(*problem));
  try {
    into.input_tokens = count_tokens(*input, pipeline);
  } catch (const input_error& error) {
    return fail(errc::invalid_request, error.what(), "input");
  }
  into.work.text = std::move(*input);
  into.work.want_text = false;
  into.work.want_audio = true;
  into.work.prompt_param = "input";
  into.pipeline = std::move(facts);
  return into;
}

} // namespace omni::openai
