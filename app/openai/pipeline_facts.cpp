#include "app/openai/pipeline_facts.hpp"

#include "kernels/core/error.hpp"
#include "kernels/text/chat_template.hpp"
#include "kernels/text/tokenizer.hpp"

#include <algorithm>
#include <utility>

namespace omni::openai {

namespace {

/// Bytes of the longest token, as it is decoded or as it is spelled.
std::size_t longest_token(const text::tokenizer& tokenizer) {
  std::size_t longest = 1;
  for (std::int32_t id = 0; id < tokenizer.vocab_size(); ++id)
    longest = std::max({longest, tokenizer.token_bytes(id).size(), tokenizer.token_content(id).size()});
  return longest;
}

} // namespace

pipeline_facts facts_of(const engine& running) {
  pipeline_facts facts;
  for (const stage_config& stage : running.config().stages) {
    const stage_model& model = running.model(stage.id);
    const runner_info& info = running.info(stage.id);
    facts.stage_names.push_back(stage.model_stage);
    facts.stage_sampling.push_back(stage.default_sampling_params.value_or(sampling_params{}));
    if (!facts.text_stage && info.vocab_size > 0) {
      facts.text_stage = stage.id;
      facts.text_model = &model;
      facts.tokenizer = model.tokenizer();
      facts.chat_template = {std::shared_ptr<void>(), model.chat_template()}; // owned by the model
      facts.vocab_size = info.vocab_size;
      facts.max_model_len = info.max_model_len;
      facts.sampling = facts.stage_sampling.back();
      if (facts.tokenizer != nullptr)
        facts.max_prompt_bytes = std::size_t(facts.max_model_len) * longest_token(*facts.tokenizer);
    }
    if (stage.final_output_type == modality::text) facts.text_output = stage.id;
    if (stage.final_output_type == modality::audio) {
      facts.audio_output = stage.id;
      facts.sample_rate = info.sample_rate;
    }
    if (facts.speakers.empty()) facts.speakers = model.speakers();
    if (info.rows_per_second > 0) facts.frames_per_second = info.rows_per_second;
  }
  return facts;
}

expected<std::shared_ptr<const text::chat_template>>
own_chat_template(const std::string& source, const std::string& where, const engine& running) {
  const pipeline_facts facts = facts_of(running);
  if (!facts.text_stage || facts.tokenizer == nullptr)
    return fail(errc::invalid_request,
                "This pipeline has no text stage that could use a chat template: leave --chat-template out.");
  nlohmann::ordered_json constants;
  for (const std::int32_t id : facts.tokenizer->encode("", text::specials::as_text, true))
    if (!constants.contains("bos_token")) constants["bos_token"] = facts.tokenizer->token_content(id);
  const auto& ends = running.info(*facts.text_stage).eos_ids;
  if (!ends.empty()) constants["eos_token"] = facts.tokenizer->token_content(ends.front());
  try {
    return std::make_shared<const text::chat_template>(text::chat_template::parse(source, where, std::move(constants)));
  } catch (const load_error& error) {
    return fail(errc::load_failed, error.what());
  }
}

} // namespace omni::openai
