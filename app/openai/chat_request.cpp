#include "app/openai/chat_request.hpp"

#include "app/openai/chat_prompt.hpp"
#include "app/openai/fields.hpp"
#include "app/openai/sampling_fields.hpp"

#include <limits>
#include <nlohmann/json.hpp>
#include <optional>

namespace omni::openai {
namespace {

constexpr std::int64_t max_choices = 128;
constexpr std::int64_t max_top_logprobs = 20;

/// `modalities`, or what the request means without it: sound if it brings an `audio` object, else text if there is any.
void read_modalities(fields& from, const pipeline_facts& pipeline, request& work) {
  const bool has_text = pipeline.text_output.has_value();
  const bool has_audio = pipeline.audio_output.has_value();
  work.want_text = has_text;
  work.want_audio = has_audio && (from.find("audio") != nullptr || !has_text);
  const json* list = from.list("modalities", 8);
  if (list == nullptr) return;
  work.want_text = work.want_audio = false;
  for (std::size_t i = 0; i < list->size(); ++i) {
    const json& each = (*list)[i];
    const std::string item = "modalities[" + std::to_string(i) + "]";
    if (each == "text")
      work.want_text = true;
    else if (each == "audio")
      work.want_audio = true;
    else
      return from.refuse_with(item, item + " must be text or audio, found " + shown(each) + ".");
    if ((each == "text" && !has_text) || (each == "audio" && !has_audio))
      return from.refuse_with(item, "This server's pipeline does not give " + each.get<std::string>() +
                                        ": leave it out of modalities.");
  }
  if (!work.want_text && !work.want_audio) from.refuse_with("modalities", "modalities must name text, audio or both.");
}

void read_voice(fields& from, const pipeline_facts& pipeline, std::optional<failure>& problem, chat_request& into) {
  voice_params& voice = into.work.voice;
  for (const char* name : {"speaker", "voice"})
    if (auto speaker = read_speaker(from, name, pipeline.speakers)) voice.speaker = std::move(*speaker);
  if (const auto speed = from.number("speed", 0.25, 4)) voice.speed = float(*speed);
  const json* audio = from.object("audio");
  if (audio == nullptr) return;
  fields inside(*audio, "audio", problem);
  if (const auto format = read_sound_format(inside, "format")) into.format = *format;
  if (auto speaker = read_speaker(inside, "voice", pipeline.speakers)) voice.speaker = std::move(*speaker);
  if (const auto speed = inside.number("speed", 0.25, 4)) voice.speed = float(*speed);
  if (into.work.want_audio) into.shape = chat_shape::openai;
}

/// vLLM-Omni's list of one object per stage: the text stage's sampler fields, a voice stage's seed.
void read_stage_sampling(fields& from, const pipeline_facts& pipeline, std::optional<failure>& problem, request& work) {
  const json* list = from.list("sampling_params_list", pipeline.stage_names.size());
  if (list == nullptr) return;
  for (std::size_t i = 0; i < list->size(); ++i) {
    const json& each = (*list)[i];
    const std::string item = "sampling_params_list[" + std::to_string(i) + "]";
    if (each.is_null()) continue;
    if (!each.is_object()) return from.refuse_with(item, item + " must be an object, found " + shown(each) + ".");
    fields inside(each, item, problem);
    if (pipeline.text_stage && std::size_t(pipeline.text_stage->value) == i) {
      read_sampling(inside, pipeline.vocab_size, work.sampling);
      continue;
    }
    auto own = pipeline.stage_sampling[i];
    read_sampling(inside, std::numeric_limits<std::int32_t>::max(), own);
    if (own.seed) work.voice.seed = *own.seed;
    work.stage_sampling.resize(pipeline.stage_names.size());
    work.stage_sampling[i] = std::move(own);
  }
}

void read_logprobs(fields& from, request& work) {
  const auto wanted = from.boolean("logprobs");
  const auto top = from.integer("top_logprobs", 0, max_top_logprobs);
  if (top && *top > 0 && !wanted.value_or(false))
    return from.refuse_with("top_logprobs", "top_logprobs needs logprobs to be true.");
  if (wanted.value_or(false)) work.sampling.logprobs = std::int32_t(top.value_or(0));
}

void read_stream_options(fields& from, std::optional<failure>& problem, chat_request& into) {
  into.stream = from.boolean("stream").value_or(false);
  const json* options = from.object("stream_options");
  if (options == nullptr) return;
  if (!into.stream) return from.refuse_with("stream_options", "stream_options is only allowed when stream is true.");
  fields inside(*options, "stream_options", problem);
  into.include_usage = inside.boolean("include_usage").value_or(false);
  into.continuous_usage = inside.boolean("continuous_usage_stats").value_or(false) && into.include_usage;
}

/// true, 1, yes, on, in any spelling that vLLM-Omni takes.
bool read_switch(const fields& from, std::string_view name) {
  const json* value = from.find(name);
  if (value == nullptr) return false;
  if (value->is_boolean()) return value->get<bool>();
  return *value == 1 || *value == "true" || *value == "1" || *value == "yes" || *value == "on";
}

/// Fields that change what an answer must be, and that nothing here can honour: silence would be a wrong answer.
void refuse_unsupported(fields& from, std::optional<failure>& problem) {
  if (const json* format = from.object("response_format")) {
    fields inside(*format, "response_format", problem);
    const auto type = inside.text("type");
    if (type && *type != "text")
      inside.refuse("type", "must be text: this server does not constrain its output to a grammar or a schema");
  }
  if (from.find("chat_template") != nullptr)
    from.refuse_with("chat_template",
                     "A request may not bring its own chat template: the operator sets one with --chat-template.");
  if (from.boolean("use_beam_search").value_or(false))
    from.refuse_with("use_beam_search", "use_beam_search is not supported: leave it out.");
}

/// The pipeline's own limit of an answer is meant for prompts that leave so much room.
void fit_default(const pipeline_facts& pipeline, request& work) {
  auto& limit = work.sampling.max_tokens;
  const auto room = std::int64_t(pipeline.max_model_len) - std::int64_t(work.prompt.size());
  if (limit == pipeline.sampling.max_tokens && limit > room && room > 0) limit = std::int32_t(room);
}

} // namespace

expected<chat_request> read_chat(const json& body, std::shared_ptr<const pipeline_facts> facts,
                                 const media::reader& media, const std::atomic<bool>& cancelled) {
  const pipeline_facts& pipeline = *facts;
  std::optional<failure> problem;
  fields from(body, "", problem);
  chat_request into;
  into.pipeline = std::move(facts);
  into.work.sampling = pipeline.sampling;
  if (!pipeline.text_stage || pipeline.tokenizer == nullptr)
    return fail(errc::invalid_request, "This server's pipeline does not read text: use /v1/audio/speech.", "messages");
  read_modalities(from, pipeline, into.work);
  read_stage_sampling(from, pipeline, problem, into.work);
  read_sampling(from, pipeline.vocab_size, into.work.sampling);
  if (into.work.sampling.seed && into.work.voice.seed == 0) into.work.voice.seed = *into.work.sampling.seed;
  read_logprobs(from, into.work);
  into.work.n = std::int32_t(from.integer("n", 1, max_choices).value_or(1));
  if (into.work.n > 1 && into.work.want_audio) from.refuse_with("n", "n must be 1 when audio is asked for.");
  read_stream_options(from, problem, into);
  read_voice(from, pipeline, problem, into);
  into.return_token_ids = from.boolean("return_token_ids").value_or(false);
  into.stage_metrics = read_switch(from, "return_stage_metrics");
  refuse_unsupported(from, problem);
  into.want_content = into.work.want_text;
  if (into.shape == chat_shape::openai) into.work.want_text = pipeline.text_output.has_value(); // for the transcript
  if (problem) return tl::unexpected(std::move(*problem));
  auto prompt = read_prompt(body, pipeline, media, cancelled);
  if (!prompt) return tl::unexpected(std::move(prompt.error()));
  into.work.prompt = std::move(prompt->tokens);
  into.work.media = std::move(prompt->media);
  if (!from.find("max_tokens") && !from.find("max_completion_tokens")) fit_default(pipeline, into.work);
  return into;
}

} // namespace omni::openai
