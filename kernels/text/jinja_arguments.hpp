#pragma once

#include "kernels/text/jinja_value.hpp"

#include <initializer_list>
#include <span>

namespace omni::text::jinja {

/// What a function, filter, test or macro is called with.
struct arguments {
  std::vector<value> positional;
  std::vector<std::pair<std::string, value>> named;
};

/// The arguments by parameter. Lives no longer than the arguments.
class bound_arguments {
public:
  /// Fails when there are too many arguments, an unknown name, or one given twice; `function` names it in errors.
  bound_arguments(const render_limits& limits, std::string_view function, const arguments& given,
                  std::initializer_list<std::string_view> parameters);

  /// The argument for parameter `index`, or null when it is absent.
  [[nodiscard]] const value* get(std::size_t index) const { return bound_[index]; }
  /// Fails when it is absent.
  [[nodiscard]] const value& need(std::size_t index) const;
  [[nodiscard]] bool flag(std::size_t index, bool absent) const;
  [[nodiscard]] std::int64_t integer(std::size_t index, std::int64_t absent) const;
  /// Fails when it is no string.
  [[nodiscard]] marked_view need_text(std::size_t index) const;
  /// Null when it is absent or None; fails when it is something else than a string.
  [[nodiscard]] const marked_text* text_or_null(std::size_t index) const;

private:
  [[noreturn]] void fail(std::size_t index, const std::string& what) const;
  const render_limits& limits_;
  std::string_view function_;
  std::vector<std::string_view> parameters_;
  std::vector<const value*> bound_;
};

} // namespace omni::text::jinja
