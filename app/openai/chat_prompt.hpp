#pragma once

#include "app/openai/json.hpp"
#include "app/openai/pipeline_facts.hpp"

#include <cstdint>
#include <optional>
#include <vector>

namespace omni::openai {

class fields;

/// `messages` as the chat template takes them: parts joined unless `takes_parts`, `developer` as `system`, tool
/// arguments as objects. What is wrong is recorded in `problem`.
json read_messages(fields& from, bool takes_parts, std::optional<failure>& problem);

/// The prompt's token ids from `messages`, `tools`, `tool_choice`, `add_generation_prompt`, `continue_final_message`
/// and `chat_template_kwargs` of a request. `pipeline` must have a tokenizer.
expected<std::vector<std::int32_t>> read_prompt(const json& body, const pipeline_facts& pipeline);

} // namespace omni::openai
