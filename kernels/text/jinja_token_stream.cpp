#include "kernels/text/jinja_token_stream.hpp"

#include "kernels/core/error.hpp"

namespace omni::text::jinja {

const token& token_stream::next() {
  const token& taken = current();
  if (at_ + 1 < tokens_.size()) ++at_;
  return taken;
}

bool token_stream::take_op(std::string_view op) {
  if (!is_op(op)) return false;
  next();
  return true;
}

bool token_stream::take_name(std::string_view name) {
  if (!is_name(name)) return false;
  next();
  return true;
}

void token_stream::expect(token::kind what, const char* called) {
  if (!is(what)) fail(std::string("expected ") + called + ", found " + found());
  next();
}

void token_stream::expect_op(std::string_view op) {
  if (!take_op(op)) fail("expected '" + std::string(op) + "', found " + found());
}

std::string token_stream::expect_name() {
  if (!is(token::kind::name)) fail("expected a name, found " + found());
  return next().text;
}

void token_stream::fail(const std::string& what) const {
  throw load_error(where_ + ", line " + std::to_string(current().line) + ": " + what + "; correct the chat template.");
}

std::string token_stream::found() const {
  using kind = token::kind;
  switch (current().what) {
  case kind::data:
    return "text";
  case kind::print_begin:
    return "'{{'";
  case kind::print_end:
    return "'}}'";
  case kind::block_begin:
    return "'{%'";
  case kind::block_end:
    return "'%}'";
  case kind::string:
    return "a string";
  case kind::end:
    return "the end of the template";
  case kind::name:
  case kind::integer:
  case kind::real:
  case kind::op:
    break;
  }
  return "'" + current().text + "'";
}

} // namespace omni::text::jinja
