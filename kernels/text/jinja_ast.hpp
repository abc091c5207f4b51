#pragma once

#include "kernels/text/jinja_value.hpp"

#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace omni::text::jinja {

struct arguments;

using filter_function = value (*)(render_limits&, const value& input, const arguments& given);
using test_function = bool (*)(render_limits&, const value& input, const arguments& given);

struct expression;
using expression_ptr = std::unique_ptr<expression>;

struct argument_list {
  std::vector<expression_ptr> positional;
  std::vector<std::pair<std::string, expression_ptr>> named;
};

struct literal {
  value constant;
};
struct variable {
  std::string name;
};
struct list_display {
  std::vector<expression_ptr> items;
  bool tuple;
};
struct dict_display {
  std::vector<std::pair<expression_ptr, expression_ptr>> entries;
};
enum class unary_op : std::uint8_t { negate, plus, logical_not };
struct unary {
  unary_op op;
  expression_ptr operand;
};
enum class binary_op : std::uint8_t {
  add,
  subtract,
  multiply,
  divide,
  floor_divide,
  modulo,
  power,
  logical_and,
  logical_or
};
struct binary {
  binary_op op;
  expression_ptr left;
  expression_ptr right;
};
enum class compare_op : std::uint8_t { equal, not_equal, less, less_equal, greater, greater_equal, in, not_in };
/// a < b < c: each neighbour is compared.
struct comparison {
  expression_ptr first;
  std::vector<std::pair<compare_op, expression_ptr>> rest;
};
/// a ~ b ~ c
struct concatenation {
  std::vector<expression_ptr> parts;
};
struct choice {
  expression_ptr condition;
  expression_ptr chosen;
  expression_ptr otherwise; // may be null: undefined
};
struct attribute {
  expression_ptr object;
  std::string name;
};
struct subscript {
  expression_ptr object;
  expression_ptr key;
};
struct slice {
  expression_ptr object;
  expression_ptr start; // these three may be null
  expression_ptr stop;
  expression_ptr step;
};
struct call_expression {
  expression_ptr callee;
  argument_list given;
};
struct filter_call {
  std::string name;
  filter_function function; // null: unknown, an error once it is used
  argument_list given;
};
struct filtered {
  expression_ptr input;
  filter_call filter;
};
struct test_call {
  expression_ptr input;
  std::string name;
  test_function function; // null: unknown
  argument_list given;
  bool negated;
};

struct expression {
  int line;
  int depth; // levels of expressions below, bounded by the parser
  std::variant<literal, variable, list_display, dict_display, unary, binary, comparison, concatenation, choice,
               attribute, subscript, slice, call_expression, filtered, test_call>
      node;
};

struct statement;
using block = std::vector<statement>;

/// Where an assignment goes: a name, an attribute of a namespace, or several of these.
struct target {
  std::string name;
  std::string attribute; // empty: the name itself
  std::vector<target> parts;
};

struct text_statement {
  text_ref text;
};
struct print_statement {
  expression_ptr of;
};
struct if_statement {
  std::vector<std::pair<expression_ptr, block>> branches;
  block otherwise;
};
struct for_statement {
  target item;
  expression_ptr items;
  expression_ptr condition; // may be null
  block body;
  block otherwise;
};
struct set_statement {
  target to;
  expression_ptr from;
};
/// {% set name | filter %}...{% endset %}, and {% filter f %}...{% endfilter %} without target.
struct capture_statement {
  target to; // no name: print
  std::vector<filter_call> filters;
  block body;
};
struct macro_statement {
  struct parameter {
    std::string name;
    expression_ptr otherwise; // default value; may be null
  };
  std::string name;
  std::vector<parameter> parameters;
  block body;
};
/// {% call(a) macro(b) %}...{% endcall %}
struct call_statement {
  expression_ptr call; // holds a call_expression
  macro_statement caller;
};
/// A scope of its own: {% with a = 1 %} and {% generation %}.
struct scope_statement {
  std::vector<std::pair<target, expression_ptr>> names;
  block body;
};
enum class loop_exit : std::uint8_t { break_loop, continue_loop };

struct statement {
  int line;
  std::variant<text_statement, print_statement, if_statement, for_statement, set_statement, capture_statement,
               macro_statement, call_statement, scope_statement, loop_exit>
      node;
};

} // namespace omni::text::jinja
