#include "actors/request_check.hpp"

#include <algorithm>
#include <cmath>
#include <string>

namespace omni {
namespace {

constexpr std::int32_t most_choices = 128;
constexpr std::int32_t most_logprobs = 20;
constexpr std::size_t most_stops = 64;

expected<void> wrong(const char* param, const std::string& must, const std::string& is) {
  return fail(errc::invalid_request, std::string("\"") + param + "\" must be " + must + ", but it is " + is + ".",
              param);
}

std::string shown(double value) {
  auto text = std::to_string(value);
  text.erase(std::min(text.size(), text.find_last_not_of('0') + 1));
  if (text.ends_with('.')) text.pop_back();
  return text;
}

struct range {
  const char* param;
  double value;
  double least;
  double most;
  bool above = false; // `least` itself is not allowed
};

expected<void> check_range(const range& one) {
  const bool good =
      std::isfinite(one.value) && one.value <= one.most && (one.above ? one.value > one.least : one.value >= one.least);
  if (good) return {};
  const auto must = std::isinf(one.most) ? std::string(one.above ? "above " : "at least ") + shown(one.least)
                                         : std::string(one.above ? "above " : "from ") + shown(one.least) +
                                               (one.above ? " and at most " : " to ") + shown(one.most);
  return wrong(one.param, must, shown(one.value));
}

expected<void> check_numbers(const request& what) {
  const auto& sampling = what.sampling;
  const double endless = HUGE_VAL;
  const range ranges[] = {
      {"n", double(what.n), 1, most_choices},
      {"temperature", sampling.temperature, 0, endless},
      {"top_p", sampling.top_p, 0, 1, true},
      {"top_k", double(sampling.top_k), 0, endless},
      {"min_p", sampling.min_p, 0, 1},
      {"repetition_penalty", sampling.repetition_penalty, 0, endless, true},
      {"presence_penalty", sampling.presence_penalty, -2, 2},
      {"frequency_penalty", sampling.frequency_penalty, -2, 2},
      {"min_tokens", double(sampling.min_tokens), 0, endless},
      {"logprobs", double(sampling.logprobs.value_or(0)), 0, most_logprobs},
      {"speed", what.voice.speed, 0.25, 4},
  };
  for (const auto& one : ranges)
    if (auto good = check_range(one); !good) return good;
  if (sampling.max_tokens != -1 && sampling.max_tokens < 1)
    return wrong("max_tokens", "at least 1", std::to_string(sampling.max_tokens));
  if (sampling.max_tokens >= 0 && sampling.min_tokens > sampling.max_tokens)
    return wrong("min_tokens", "at most max_tokens, " + std::to_string(sampling.max_tokens),
                 std::to_string(sampling.min_tokens));
  if (what.want_audio && what.n > 1) return wrong("n", "1 when audio is asked for", std::to_string(what.n));
  return {};
}

expected<void> check_lists(const request& what, std::int32_t vocabulary) {
  const auto& sampling = what.sampling;
  const auto known = [&](std::int32_t id) { return id >= 0 && id < vocabulary; };
  const std::string ids = "token ids from 0 to " + std::to_string(vocabulary - 1);
  if (const auto bad = std::ranges::find_if_not(what.prompt, known); bad != what.prompt.end())
    return wrong(what.prompt_param.c_str(), ids, std::to_string(*bad));
  for (const auto& [id, bias] : sampling.logit_bias) {
    if (!known(id)) return wrong("logit_bias", ids, std::to_string(id));
    if (auto good = check_range({"logit_bias", bias, -100, 100}); !good) return good;
  }
  if (sampling.stop.size() > most_stops)
    return wrong("stop", "at most " + std::to_string(most_stops) + " strings", std::to_string(sampling.stop.size()));
  if (std::ranges::any_of(sampling.stop, &std::string::empty))
    return wrong("stop", "strings that are not empty", "\"\"");
  return {};
}

expected<void> check_length(const request& what, std::int32_t max_model_len) {
  const auto prompt = std::int64_t(what.prompt.size());
  const auto answer = std::max<std::int64_t>(what.sampling.max_tokens, 1);
  if (prompt + answer <= max_model_len) return {};
  const auto limit = "This model's context holds " + std::to_string(max_model_len) + " tokens, but ";
  if (what.sampling.max_tokens < 0 || prompt >= max_model_len)
    return fail(errc::context_too_long,
                limit + "the prompt has " + std::to_string(prompt) + " and needs room for an answer: shorten it.",
                what.prompt_param);
  return fail(errc::context_too_long,
              limit + "the prompt has " + std::to_string(prompt) + " and max_tokens asks for " +
                  std::to_string(answer) + " more: lower one of them.",
              what.prompt_param);
}

} // namespace

expected<void> check_request(const request& what, const stage_graph& graph, const runner_info* text_stage) {
  if (what.prompt.empty() && what.text.empty())
    return fail(errc::invalid_request, "There is nothing to answer: give a prompt or a text.", what.prompt_param);
  if (const auto way = graph.path_of(what); !way) return tl::unexpected(way.error());
  if (auto good = check_numbers(what); !good) return good;
  if (what.prompt.empty() || text_stage == nullptr) return {};
  if (auto good = check_lists(what, text_stage->vocab_size); !good) return good;
  return check_length(what, text_stage->max_model_len);
}

} // namespace omni
