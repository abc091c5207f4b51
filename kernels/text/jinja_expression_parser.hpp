#pragma once

#include "kernels/text/jinja_ast.hpp"
#include "kernels/text/jinja_token_stream.hpp"

namespace omni::text::jinja {

/// Parses expressions with Jinja's grammar and precedence. Bounds the depth of what it builds, so that evaluating and
/// destroying it needs a bounded stack.
class expression_parser {
public:
  explicit expression_parser(token_stream& tokens) : tokens_(tokens) {}

  expression_ptr parse();
  /// One expression, or several with commas: a tuple. Without `choices`, an `if` is left for the statement.
  expression_ptr parse_tuple(bool choices = true);
  /// `(a, key=b)`
  argument_list parse_arguments();
  /// A filter's name and arguments, behind its `|`.
  filter_call parse_filter_call();

private:
  class nesting;
  template <class Node>
  expression_ptr make(int line, Node node);
  expression_ptr parse_choice();
  expression_ptr parse_or();
  expression_ptr parse_and();
  expression_ptr parse_not();
  expression_ptr parse_comparison();
  expression_ptr parse_sum();
  expression_ptr parse_concatenation();
  expression_ptr parse_product();
  expression_ptr parse_power();
  expression_ptr parse_unary(bool with_filters);
  expression_ptr parse_primary();
  expression_ptr parse_number();
  expression_ptr parse_parentheses();
  expression_ptr parse_list();
  expression_ptr parse_dict();
  expression_ptr parse_postfix(expression_ptr of);
  expression_ptr parse_subscript(expression_ptr object);
  expression_ptr parse_filters_and_tests(expression_ptr of);
  expression_ptr parse_test(expression_ptr of);
  expression_ptr finish_tuple(bool choices, bool parenthesized);
  [[nodiscard]] bool at_test_argument() const;

  token_stream& tokens_;
  int nesting_ = 0;
};

} // namespace omni::text::jinja
