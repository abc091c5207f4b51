#pragma once

#include "kernels/text/jinja_lexer.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace omni::text::jinja {

/// The tokens of a template with a place among them. The last one, `end`, is never passed.
class token_stream {
public:
  token_stream(std::vector<token> tokens, const std::string& where) : tokens_(std::move(tokens)), where_(where) {}

  [[nodiscard]] const token& current() const { return tokens_[at_]; }
  [[nodiscard]] const token& ahead() const { return tokens_[at_ + 1 < tokens_.size() ? at_ + 1 : at_]; }
  /// The current token; moves to the next.
  const token& next();
  [[nodiscard]] bool is(token::kind what) const { return current().what == what; }
  [[nodiscard]] bool is_op(std::string_view op) const { return is(token::kind::op) && current().text == op; }
  [[nodiscard]] bool is_name(std::string_view name) const { return is(token::kind::name) && current().text == name; }
  /// Moves on if the current token is this operator or this name.
  bool take_op(std::string_view op);
  bool take_name(std::string_view name);
  /// Moves on; fails when the current token is another.
  void expect(token::kind what, const char* called);
  void expect_op(std::string_view op);
  std::string expect_name();
  /// Throws `load_error` with the line.
  [[noreturn]] void fail(const std::string& what) const;
  [[nodiscard]] std::string found() const;

private:
  std::vector<token> tokens_;
  const std::string& where_;
  std::size_t at_ = 0;
};

} // namespace omni::text::jinja
