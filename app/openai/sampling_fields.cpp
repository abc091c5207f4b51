#include "app/openai/sampling_fields.hpp"

#include <charconv>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>

namespace omni::openai {
namespace {

constexpr std::int64_t max_int32 = std::numeric_limits<std::int32_t>::max();
constexpr std::size_t max_stops = 16;
constexpr std::size_t max_stop_bytes = 1024;
constexpr std::size_t max_stop_ids = 1024;

void set(const std::optional<double>& value, float& into) {
  if (value) into = float(*value);
}

void read_stop(fields& from, sampling_params& into) {
  const json* value = from.find("stop");
  if (value == nullptr) return;
  const auto usable = [](const json& each) {
    return each.is_string() && !each.get_ref<const std::string&>().empty() &&
           each.get_ref<const std::string&>().size() <= max_stop_bytes;
  };
  const std::string wanted = "must be a string or a list of at most " + std::to_string(max_stops) +
                             " strings of 1 to " + std::to_string(max_stop_bytes) + " bytes";
  std::vector<std::string> stops;
  if (value->is_string() && usable(*value)) {
    stops.push_back(value->get<std::string>());
  } else if (value->is_array() && value->size() <= max_stops) {
    for (const json& each : *value) {
      if (!usable(each)) return from.refuse("stop", wanted);
      stops.push_back(each.get<std::string>());
    }
  } else {
    return from.refuse("stop", wanted);
  }
  into.stop = std::move(stops);
}

void read_logit_bias(fields& from, std::int32_t vocab_size, sampling_params& into) {
  const json* map = from.object("logit_bias");
  if (map == nullptr) return;
  into.logit_bias.clear();
  for (const auto& [key, value] : map->items()) {
    std::int32_t token = -1;
    const auto [end, error] = std::from_chars(key.data(), key.data() + key.size(), token);
    if (error != std::errc() || end != key.data() + key.size() || token < 0 || token >= vocab_size)
      return from.refuse_with("logit_bias", "logit_bias must map token ids from 0 to " +
                                                std::to_string(vocab_size - 1) + " to numbers, found the key " +
                                                shown(json(key)) + ".");
    if (!value.is_number() || value.get<double>() < -100 || value.get<double>() > 100)
      return from.refuse_with("logit_bias", "logit_bias values must be numbers from -100 to 100, found " +
                                                shown(value) + " for token " + key + ".");
    into.logit_bias.emplace_back(token, value.get<float>());
  }
}

} // namespace

void read_sampling(fields& from, std::int32_t vocab_size, sampling_params& into) {
  set(from.number("temperature", 0, 2), into.temperature);
  set(from.number("top_p", 0, 1, true), into.top_p);
  set(from.number("min_p", 0, 1), into.min_p);
  set(from.number("repetition_penalty", 0, 10, true), into.repetition_penalty);
  set(from.number("presence_penalty", -2, 2), into.presence_penalty);
  set(from.number("frequency_penalty", -2, 2), into.frequency_penalty);
  if (const auto top_k = from.integer("top_k", -1, max_int32)) into.top_k = *top_k < 0 ? 0 : std::int32_t(*top_k);
  if (const auto seed =
          from.integer("seed", std::numeric_limits<std::int64_t>::min(), std::numeric_limits<std::int64_t>::max()))
    into.seed = static_cast<std::uint64_t>(*seed);
  if (const auto most = from.integer("max_tokens", 1, max_int32)) into.max_tokens = std::int32_t(*most);
  if (const auto most = from.integer("max_completion_tokens", 1, max_int32)) into.max_tokens = std::int32_t(*most);
  if (const auto least = from.integer("min_tokens", 0, max_int32)) into.min_tokens = std::int32_t(*least);
  if (into.max_tokens >= 0 && into.min_tokens > into.max_tokens)
    from.refuse_with("min_tokens", "min_tokens (" + std::to_string(into.min_tokens) +
                                       ") must not be larger than max_tokens (" + std::to_string(into.max_tokens) +
                                       ").");
  if (const auto ignore = from.boolean("ignore_eos")) into.ignore_eos = *ignore;
  if (const auto include = from.boolean("include_stop_str_in_output")) into.include_stop_str_in_output = *include;
  if (const auto skip = from.boolean("skip_special_tokens")) into.skip_special_tokens = *skip;
  if (auto ids = from.integers("stop_token_ids", 0, vocab_size - 1, max_stop_ids))
    into.stop_token_ids = std::move(*ids);
  read_stop(from, into);
  read_logit_bias(from, vocab_size, into);
}

} // namespace omni::openai
