#include "kernels/text/jinja_arguments.hpp"

#include <algorithm>

namespace omni::text::jinja {

bound_arguments::bound_arguments(const render_limits& limits, std::string_view function, const arguments& given,
                                 std::initializer_list<std::string_view> parameters)
    : limits_(limits), function_(function), parameters_(parameters), bound_(parameters.size(), nullptr) {
  const std::string name(function);
  if (given.positional.size() > bound_.size())
    limits.fail(name + " takes at most " + std::to_string(bound_.size()) + " arguments, not " +
                std::to_string(given.positional.size()));
  for (std::size_t at = 0; at < given.positional.size(); ++at) bound_[at] = &given.positional[at];
  for (const auto& [key, item] : given.named) {
    const auto found = std::find(parameters_.begin(), parameters_.end(), key);
    if (found == parameters_.end()) limits.fail(name + " has no parameter '" + key + "'");
    const value*& place = bound_[static_cast<std::size_t>(found - parameters_.begin())];
    if (place != nullptr) limits.fail(name + " got '" + key + "' twice");
    place = &item;
  }
}

void bound_arguments::fail(std::size_t index, const std::string& what) const {
  limits_.fail(std::string(function_) + ": argument '" + std::string(parameters_[index]) + "' " + what);
}

const value& bound_arguments::need(std::size_t index) const {
  if (bound_[index] == nullptr) fail(index, "is missing");
  return *bound_[index];
}

bool bound_arguments::flag(std::size_t index, bool absent) const {
  return bound_[index] == nullptr ? absent : is_true(*bound_[index]);
}

std::int64_t bound_arguments::integer(std::size_t index, std::int64_t absent) const {
  if (bound_[index] == nullptr || bound_[index]->is<none>()) return absent;
  const auto number = as_integer(*bound_[index]);
  if (!number) fail(index, std::string("should be an integer, not ") + type_name(*bound_[index]));
  return *number;
}

const marked_text* bound_arguments::text_or_null(std::size_t index) const {
  if (bound_[index] == nullptr || bound_[index]->is<none>()) return nullptr;
  const auto* text = bound_[index]->get_if<text_ref>();
  if (text == nullptr) fail(index, std::string("should be a string, not ") + type_name(*bound_[index]));
  return text->get();
}

marked_view bound_arguments::need_text(std::size_t index) const {
  const marked_text* text = text_or_null(index);
  if (text == nullptr) fail(index, bound_[index] == nullptr ? "is missing" : "should be a string, not NoneType");
  return text->view();
}

} // namespace omni::text::jinja
