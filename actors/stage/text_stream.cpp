#include "actors/stage/text_stream.hpp"

namespace omni {

text_stream::text_stream(const text::tokenizer* tokenizer, const sampling_params& sampling)
    : stops_(sampling.stop, sampling.include_stop_str_in_output), stop_strings_(sampling.stop) {
  if (tokenizer != nullptr) tokens_.emplace(*tokenizer, sampling.skip_special_tokens);
}

text_stream::piece text_stream::push(std::int32_t token, bool may_stop) {
  if (!tokens_) return {};
  auto text = tokens_->push(token);
  if (!may_stop) return {std::move(text), std::nullopt};
  auto safe = stops_.push(text);
  if (!safe.stopped) return {std::move(safe.text), std::nullopt};
  return {std::move(safe.text), stop_strings_[std::size_t(safe.which)]};
}

std::string text_stream::flush() {
  if (!tokens_) return {};
  auto safe = stops_.push(tokens_->flush());
  return safe.stopped ? std::move(safe.text) : safe.text + stops_.flush();
}

} // namespace omni
