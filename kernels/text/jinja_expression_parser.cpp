#include "kernels/text/jinja_expression_parser.hpp"

#include "kernels/text/jinja_filters.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>

namespace omni::text::jinja {
namespace {

using kind = token::kind;

constexpr int max_nesting = 60; // open brackets, chained nots, ...: what parsing recurses on
constexpr int max_depth = 200;  // what evaluating recurses on

/// Depth of the deepest expression inside a node.
struct depth_below {
  int operator()(const literal&) const { return 0; }
  int operator()(const variable&) const { return 0; }
  int operator()(const list_display& of) const { return all(of.items); }
  int operator()(const dict_display& of) const {
    int deepest = 0;
    for (const auto& [key, item] : of.entries) deepest = std::max({deepest, one(key), one(item)});
    return deepest;
  }
  int operator()(const unary& of) const { return one(of.operand); }
  int operator()(const binary& of) const { return std::max(one(of.left), one(of.right)); }
  int operator()(const comparison& of) const { return std::max(one(of.first), named(of.rest)); }
  int operator()(const concatenation& of) const { return all(of.parts); }
  int operator()(const choice& of) const { return std::max({one(of.condition), one(of.chosen), one(of.otherwise)}); }
  int operator()(const attribute& of) const { return one(of.object); }
  int operator()(const subscript& of) const { return std::max(one(of.object), one(of.key)); }
  int operator()(const slice& of) const {
    return std::max({one(of.object), one(of.start), one(of.stop), one(of.step)});
  }
  int operator()(const call_expression& of) const { return std::max(one(of.callee), given(of.given)); }
  int operator()(const filtered& of) const { return std::max(one(of.input), given(of.filter.given)); }
  int operator()(const test_call& of) const { return std::max(one(of.input), given(of.given)); }

private:
  static int one(const expression_ptr& of) { return of ? of->depth : 0; }
  static int all(const std::vector<expression_ptr>& of) {
    int deepest = 0;
    for (const expression_ptr& each : of) deepest = std::max(deepest, one(each));
    return deepest;
  }
  template <class Name>
  static int named(const std::vector<std::pair<Name, expression_ptr>>& of) {
    int deepest = 0;
    for (const auto& [name, each] : of) deepest = std::max(deepest, one(each));
    return deepest;
  }
  static int given(const argument_list& of) { return std::max(all(of.positional), named(of.named)); }
};

template <std::size_t Size, class Op>
std::optional<Op> find_op(const token_stream& tokens, const std::array<std::pair<std::string_view, Op>, Size>& table) {
  for (const auto& [text, op] : table)
    if (tokens.is_op(text)) return op;
  return std::nullopt;
}

} // namespace

/// Counts one level of recursion while it lives.
class expression_parser::nesting {
public:
  explicit nesting(expression_parser& parser) : parser_(parser) {
    if (++parser_.nesting_ > max_nesting) parser_.tokens_.fail("expressions are nested too deeply");
  }
  ~nesting() { --parser_.nesting_; }
  nesting(const nesting&) = delete;
  nesting& operator=(const nesting&) = delete;

private:
  expression_parser& parser_;
};

template <class Node>
expression_ptr expression_parser::make(int line, Node node) {
  const int below = depth_below()(node);
  if (below >= max_depth) tokens_.fail("an expression is too long");
  return std::make_unique<expression>(expression{line, below + 1, std::move(node)});
}

expression_ptr expression_parser::parse() { return parse_choice(); }

expression_ptr expression_parser::parse_choice() {
  const nesting guard(*this);
  const int line = tokens_.current().line;
  expression_ptr chosen = parse_or();
  while (tokens_.take_name("if")) {
    expression_ptr condition = parse_or();
    expression_ptr otherwise = tokens_.take_name("else") ? parse_choice() : nullptr;
    chosen = make(line, choice{std::move(condition), std::move(chosen), std::move(otherwise)});
  }
  return chosen;
}

expression_ptr expression_parser::parse_or() {
  const int line = tokens_.current().line;
  expression_ptr left = parse_and();
  while (tokens_.take_name("or")) {
    expression_ptr right = parse_and();
    left = make(line, binary{binary_op::logical_or, std::move(left), std::move(right)});
  }
  return left;
}

expression_ptr expression_parser::parse_and() {
  const int line = tokens_.current().line;
  expression_ptr left = parse_not();
  while (tokens_.take_name("and")) {
    expression_ptr right = parse_not();
    left = make(line, binary{binary_op::logical_and, std::move(left), std::move(right)});
  }
  return left;
}

expression_ptr expression_parser::parse_not() {
  const nesting guard(*this);
  const int line = tokens_.current().line;
  if (tokens_.take_name("not")) return make(line, unary{unary_op::logical_not, parse_not()});
  return parse_comparison();
}

expression_ptr expression_parser::parse_comparison() {
  static constexpr std::array<std::pair<std::string_view, compare_op>, 6> operators = {
      {{"==", compare_op::equal},
       {"!=", compare_op::not_equal},
       {"<", compare_op::less},
       {"<=", compare_op::less_equal},
       {">", compare_op::greater},
       {">=", compare_op::greater_equal}}};
  const int line = tokens_.current().line;
  comparison made{parse_sum(), {}};
  while (true) {
    compare_op op = compare_op::in;
    if (const auto found = find_op(tokens_, operators)) {
      op = *found;
      tokens_.next();
    } else if (tokens_.is_name("not") && tokens_.ahead().what == kind::name && tokens_.ahead().text == "in") {
      tokens_.next();
      tokens_.next();
      op = compare_op::not_in;
    } else if (!tokens_.take_name("in")) {
      break;
    }
    made.rest.emplace_back(op, parse_sum());
  }
  return made.rest.empty() ? std::move(made.first) : make(line, std::move(made));
}

expression_ptr expression_parser::parse_sum() {
  static constexpr std::array<std::pair<std::string_view, binary_op>, 2> operators = {
      {{"+", binary_op::add}, {"-", binary_op::subtract}}};
  const int line = tokens_.current().line;
  expression_ptr left = parse_concatenation();
  while (const auto op = find_op(tokens_, operators)) {
    tokens_.next();
    expression_ptr right = parse_concatenation();
    left = make(line, binary{*op, std::move(left), std::move(right)});
  }
  return left;
}

expression_ptr expression_parser::parse_concatenation() {
  const int line = tokens_.current().line;
  concatenation made;
  do made.parts.push_back(parse_product());
  while (tokens_.take_op("~"));
  return made.parts.size() == 1 ? std::move(made.parts[0]) : make(line, std::move(made));
}

expression_ptr expression_parser::parse_product() {
  static constexpr std::array<std::pair<std::string_view, binary_op>, 4> operators = {{{"*", binary_op::multiply},
                                                                                       {"/", binary_op::divide},
                                                                                       {"//", binary_op::floor_divide},
                                                                                       {"%", binary_op::modulo}}};
  const int line = tokens_.current().line;
  expression_ptr left = parse_power();
  while (const auto op = find_op(tokens_, operators)) {
    tokens_.next();
    expression_ptr right = parse_power();
    left = make(line, binary{*op, std::move(left), std::move(right)});
  }
  return left;
}

expression_ptr expression_parser::parse_power() {
  const int line = tokens_.current().line;
  expression_ptr left = parse_unary(true);
  while (tokens_.take_op("**")) {
    expression_ptr right = parse_unary(true);
    left = make(line, binary{binary_op::power, std::move(left), std::move(right)});
  }
  return left;
}

/// A sign takes no filters with it: `-x|abs` is `(-x)|abs`.
expression_ptr expression_parser::parse_unary(bool with_filters) {
  const nesting guard(*this);
  const int line = tokens_.current().line;
  expression_ptr made;
  if (tokens_.take_op("-"))
    made = make(line, unary{unary_op::negate, parse_unary(false)});
  else if (tokens_.take_op("+"))
    made = make(line, unary{unary_op::plus, parse_unary(false)});
  else
    made = parse_primary();
  made = parse_postfix(std::move(made));
  return with_filters ? parse_filters_and_tests(std::move(made)) : std::move(made);
}

expression_ptr expression_parser::parse_primary() {
  const token& current = tokens_.current();
  const int line = current.line;
  if (current.what == kind::name) {
    const std::string name = tokens_.next().text;
    if (name == "true" || name == "True") return make(line, literal{value(true)});
    if (name == "false" || name == "False") return make(line, literal{value(false)});
    if (name == "none" || name == "None") return make(line, literal{value(none{})});
    return make(line, variable{name});
  }
  if (current.what == kind::string) {
    std::string text;
    while (tokens_.is(kind::string)) text += tokens_.next().text; // neighbours are one string
    return make(line, literal{make_text(text)});
  }
  if (current.what == kind::integer || current.what == kind::real) return parse_number();
  if (tokens_.take_op("(")) return parse_parentheses();
  if (tokens_.take_op("[")) return parse_list();
  if (tokens_.take_op("{")) return parse_dict();
  tokens_.fail("expected an expression, found " + tokens_.found());
}

expression_ptr expression_parser::parse_number() {
  const token number = tokens_.next();
  const char* begin = number.text.data();
  const char* end = begin + number.text.size();
  std::int64_t whole = 0;
  double real = 0;
  if (number.what == kind::integer && std::from_chars(begin, end, whole).ec == std::errc())
    return make(number.line, literal{value(whole)});
  if (number.what == kind::real && std::from_chars(begin, end, real).ec == std::errc())
    return make(number.line, literal{value(real)});
  tokens_.fail("the number " + number.text + " is out of range");
}

expression_ptr expression_parser::parse_parentheses() {
  expression_ptr inside = finish_tuple(true, true);
  tokens_.expect_op(")");
  return inside;
}

expression_ptr expression_parser::parse_tuple(bool choices) { return finish_tuple(choices, false); }

expression_ptr expression_parser::finish_tuple(bool choices, bool parenthesized) {
  const nesting guard(*this);
  const int line = tokens_.current().line;
  list_display made{{}, true};
  bool has_comma = false;
  while (!tokens_.is(kind::print_end) && !tokens_.is(kind::block_end) && !tokens_.is_op(")")) {
    made.items.push_back(choices ? parse_choice() : parse_or());
    if (!tokens_.take_op(",")) break;
    has_comma = true;
  }
  if (has_comma) return make(line, std::move(made));
  if (!made.items.empty()) return std::move(made.items[0]);
  if (!parenthesized) tokens_.fail("expected an expression, found " + tokens_.found());
  return make(line, std::move(made));
}

expression_ptr expression_parser::parse_list() {
  const int line = tokens_.current().line;
  list_display made{{}, false};
  while (!tokens_.is_op("]")) {
    made.items.push_back(parse());
    if (!tokens_.take_op(",")) break;
  }
  tokens_.expect_op("]");
  return make(line, std::move(made));
}

expression_ptr expression_parser::parse_dict() {
  const int line = tokens_.current().line;
  dict_display made;
  while (!tokens_.is_op("}")) {
    expression_ptr key = parse();
    tokens_.expect_op(":");
    made.entries.emplace_back(std::move(key), parse());
    if (!tokens_.take_op(",")) break;
  }
  tokens_.expect_op("}");
  return make(line, std::move(made));
}

expression_ptr expression_parser::parse_postfix(expression_ptr of) {
  while (true) {
    const int line = tokens_.current().line;
    if (tokens_.take_op(".")) {
      if (tokens_.is(kind::integer))
        of = make(line, subscript{std::move(of), parse_number()});
      else
        of = make(line, attribute{std::move(of), tokens_.expect_name()});
    } else if (tokens_.take_op("[")) {
      of = parse_subscript(std::move(of));
    } else if (tokens_.is_op("(")) {
      argument_list given = parse_arguments();
      of = make(line, call_expression{std::move(of), std::move(given)});
    } else {
      return of;
    }
  }
}

expression_ptr expression_parser::parse_subscript(expression_ptr object) {
  const int line = tokens_.current().line;
  const auto at_end = [&] { return tokens_.is_op(":") || tokens_.is_op("]"); };
  expression_ptr start = at_end() ? nullptr : parse();
  if (start && tokens_.take_op("]")) return make(line, subscript{std::move(object), std::move(start)});
  tokens_.expect_op(":");
  expression_ptr stop = at_end() ? nullptr : parse();
  expression_ptr step;
  if (tokens_.take_op(":") && !at_end()) step = parse();
  tokens_.expect_op("]");
  return make(line, slice{std::move(object), std::move(start), std::move(stop), std::move(step)});
}

argument_list expression_parser::parse_arguments() {
  argument_list given;
  tokens_.expect_op("(");
  while (!tokens_.is_op(")")) {
    const token& ahead = tokens_.ahead();
    if (tokens_.is(kind::name) && ahead.what == kind::op && ahead.text == "=") {
      std::string name = tokens_.next().text;
      tokens_.next();
      given.named.emplace_back(std::move(name), parse());
    } else {
      if (!given.named.empty()) tokens_.fail("an argument without name follows one with a name");
      given.positional.push_back(parse());
    }
    if (!tokens_.take_op(",")) break;
  }
  tokens_.expect_op(")");
  return given;
}

filter_call expression_parser::parse_filter_call() {
  filter_call made{tokens_.expect_name(), nullptr, {}};
  made.function = find_filter(made.name);
  if (tokens_.is_op("(")) made.given = parse_arguments();
  return made;
}

expression_ptr expression_parser::parse_filters_and_tests(expression_ptr of) {
  while (true) {
    const int line = tokens_.current().line;
    if (tokens_.take_op("|")) {
      filter_call filter = parse_filter_call();
      of = make(line, filtered{std::move(of), std::move(filter)});
    } else if (tokens_.take_name("is")) {
      of = parse_test(std::move(of));
    } else if (tokens_.is_op("(")) {
      argument_list given = parse_arguments();
      of = make(line, call_expression{std::move(of), std::move(given)});
    } else {
      return of;
    }
  }
}

/// A test may have one argument without parentheses: `x is divisibleby 3`.
bool expression_parser::at_test_argument() const {
  if (tokens_.is(kind::string) || tokens_.is(kind::integer) || tokens_.is(kind::real)) return true;
  if (tokens_.is_op("[") || tokens_.is_op("{")) return true;
  static constexpr std::array<std::string_view, 7> keywords = {"else", "or", "and", "is", "if", "in", "not"};
  return tokens_.is(kind::name) &&
         std::find(keywords.begin(), keywords.end(), tokens_.current().text) == keywords.end();
}

expression_ptr expression_parser::parse_test(expression_ptr of) {
  const int line = tokens_.current().line;
  const bool negated = tokens_.take_name("not");
  test_call made{std::move(of), tokens_.expect_name(), nullptr, {}, negated};
  made.function = find_test(made.name);
  if (tokens_.is_op("("))
    made.given = parse_arguments();
  else if (at_test_argument())
    made.given.positional.push_back(parse_postfix(parse_primary()));
  return make(line, std::move(made));
}

} // namespace omni::text::jinja
