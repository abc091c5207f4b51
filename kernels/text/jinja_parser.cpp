#include "kernels/text/jinja_parser.hpp"

#include "kernels/text/jinja_expression_parser.hpp"

#include <algorithm>
#include <initializer_list>

namespace omni::text::jinja {
namespace {

using kind = token::kind;

constexpr int max_nesting = 60; // blocks inside blocks

class parser {
public:
  parser(std::string_view source, const std::string& where)
      : tokens_(tokenize(source, where), where), expressions_(tokens_) {}

  block run() {
    block all = parse_until({});
    if (!tokens_.is(kind::end)) tokens_.fail("expected the end of the template, found " + tokens_.found());
    return all;
  }

private:
  /// Statements up to a tag named by one of `ends`, whose name is then the current token.
  block parse_until(std::initializer_list<std::string_view> ends) {
    if (++nesting_ > max_nesting) tokens_.fail("blocks are nested too deeply");
    block body;
    while (!tokens_.is(kind::end)) {
      const int line = tokens_.current().line;
      if (tokens_.is(kind::data)) {
        body.push_back({line, text_statement{std::make_shared<const marked_text>(tokens_.next().text, false)}});
      } else if (tokens_.is(kind::print_begin)) {
        tokens_.next();
        body.push_back({line, print_statement{expressions_.parse_tuple()}});
        tokens_.expect(kind::print_end, "'}}'");
      } else {
        tokens_.expect(kind::block_begin, "a tag");
        if (tokens_.is(kind::name) && std::find(ends.begin(), ends.end(), tokens_.current().text) != ends.end()) break;
        parse_tag(body, line);
      }
    }
    if (ends.size() > 0 && tokens_.is(kind::end))
      tokens_.fail("'{% " + std::string(*(ends.end() - 1)) + " %}' is missing");
    --nesting_;
    return body;
  }

  void end_tag() { tokens_.expect(kind::block_end, "'%}'"); }

  /// The statements of a block that ends with `{% end %}`; behind it afterwards.
  block parse_body(std::string_view end) {
    end_tag();
    block body = parse_until({end});
    tokens_.next();
    end_tag();
    return body;
  }

  void parse_tag(block& body, int line) {
    const std::string name = tokens_.expect_name();
    const auto add = [&](auto made) { body.push_back({line, std::move(made)}); };
    if (name == "if") return add(parse_if());
    if (name == "for") return add(parse_for());
    if (name == "set") return parse_set(body, line);
    if (name == "macro") return add(parse_macro());
    if (name == "call") return add(parse_call());
    if (name == "filter") return add(parse_filter());
    if (name == "with") return add(parse_with());
    if (name == "generation") return add(scope_statement{{}, parse_body("endgeneration")});
    if (name == "break" || name == "continue") {
      if (loops_ == 0) tokens_.fail("'" + name + "' stands outside of a loop");
      end_tag();
      return add(name == "break" ? loop_exit::break_loop : loop_exit::continue_loop);
    }
    tokens_.fail("the statement '" + name + "' is not supported here");
  }

  if_statement parse_if() {
    if_statement made;
    while (true) {
      expression_ptr condition = expressions_.parse_tuple(false);
      end_tag();
      made.branches.emplace_back(std::move(condition), parse_until({"elif", "else", "endif"}));
      if (!tokens_.take_name("elif")) break;
    }
    if (tokens_.next().text == "else") {
      made.otherwise = parse_body("endif");
    } else {
      end_tag();
    }
    return made;
  }

  for_statement parse_for() {
    for_statement made;
    made.item = parse_targets(false);
    if (!tokens_.take_name("in")) tokens_.fail("expected 'in', found " + tokens_.found());
    made.items = expressions_.parse_tuple(false);
    if (tokens_.take_name("if")) made.condition = expressions_.parse();
    if (tokens_.is_name("recursive")) tokens_.fail("recursive loops are not supported");
    end_tag();
    ++loops_;
    made.body = parse_until({"else", "endfor"});
    --loops_;
    if (tokens_.next().text == "else") {
      made.otherwise = parse_body("endfor");
    } else {
      end_tag();
    }
    return made;
  }

  void parse_set(block& body, int line) {
    target to = parse_targets(true);
    if (tokens_.take_op("=")) {
      body.push_back({line, set_statement{std::move(to), expressions_.parse_tuple()}});
      return end_tag();
    }
    capture_statement made{std::move(to), {}, {}};
    while (tokens_.take_op("|")) made.filters.push_back(expressions_.parse_filter_call());
    made.body = parse_body("endset");
    body.push_back({line, std::move(made)});
  }

  capture_statement parse_filter() {
    capture_statement made;
    do made.filters.push_back(expressions_.parse_filter_call());
    while (tokens_.take_op("|"));
    made.body = parse_body("endfilter");
    return made;
  }

  /// `a`, `a.b` if `attributes`, or several with commas.
  target parse_targets(bool attributes) {
    target first = parse_target(attributes);
    if (!tokens_.is_op(",")) return first;
    target all;
    all.parts.push_back(std::move(first));
    while (tokens_.take_op(","))
      if (tokens_.is(kind::name) || tokens_.is_op("(")) all.parts.push_back(parse_target(attributes));
    return all;
  }

  target parse_target(bool attributes) {
    if (tokens_.take_op("(")) {
      if (++nesting_ > max_nesting) tokens_.fail("names are nested too deeply");
      target inside = parse_targets(attributes);
      --nesting_;
      tokens_.expect_op(")");
      return inside;
    }
    target made;
    made.name = tokens_.expect_name();
    if (attributes && tokens_.take_op(".")) made.attribute = tokens_.expect_name();
    return made;
  }

  std::vector<macro_statement::parameter> parse_parameters() {
    std::vector<macro_statement::parameter> parameters;
    tokens_.expect_op("(");
    while (!tokens_.is_op(")")) {
      macro_statement::parameter made{tokens_.expect_name(), nullptr};
      if (tokens_.take_op("=")) made.otherwise = expressions_.parse();
      parameters.push_back(std::move(made));
      if (!tokens_.take_op(",")) break;
    }
    tokens_.expect_op(")");
    return parameters;
  }

  /// A macro's body is outside of the loops around it.
  block parse_macro_body(std::string_view end) {
    const int loops = std::exchange(loops_, 0);
    block body = parse_body(end);
    loops_ = loops;
    return body;
  }

  macro_statement parse_macro() {
    macro_statement made;
    made.name = tokens_.expect_name();
    made.parameters = parse_parameters();
    made.body = parse_macro_body("endmacro");
    return made;
  }

  call_statement parse_call() {
    call_statement made;
    made.caller.name = "caller";
    if (tokens_.is_op("(")) made.caller.parameters = parse_parameters();
    made.call = expressions_.parse();
    if (!std::holds_alternative<call_expression>(made.call->node)) tokens_.fail("a call block needs a call");
    made.caller.body = parse_macro_body("endcall");
    return made;
  }

  scope_statement parse_with() {
    scope_statement made;
    while (!tokens_.is(kind::block_end)) {
      target name = parse_target(false);
      tokens_.expect_op("=");
      made.names.emplace_back(std::move(name), expressions_.parse());
      if (!tokens_.take_op(",")) break;
    }
    made.body = parse_body("endwith");
    return made;
  }

  token_stream tokens_;
  expression_parser expressions_;
  int nesting_ = 0;
  int loops_ = 0;
};

} // namespace

block parse(std::string_view source, const std::string& where) { return parser(source, where).run(); }

} // namespace omni::text::jinja
