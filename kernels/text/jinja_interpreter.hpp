#pragma once

#include "kernels/text/jinja_arguments.hpp"
#include "kernels/text/jinja_ast.hpp"

#include <ctime>
#include <deque>
#include <optional>

namespace omni::text::jinja {

/// Names and values of one block. Blocks look into those around them.
struct scope {
  scope* around;
  std::vector<std::pair<std::string_view, value>> names;
  bool captured = false; // a macro was defined here or inside: it may be called after the block's end
};

struct macro_data {
  const macro_statement* definition;
  scope* around;
};

/// Renders one template once. Everything a template can make (scopes, loops, namespaces, macros) is owned here and gone
/// at the end, so there are no cycles to leak. Throws `input_error` through its limits.
class interpreter {
public:
  /// `now` is what strftime_now tells; without it the template finds no such function.
  interpreter(const block& program, render_limits& limits, std::vector<std::pair<std::string, value>> variables,
              const std::optional<std::tm>& now);
  marked_text run();

private:
  enum class flow : std::uint8_t { on, break_loop, continue_loop };
  class level;
  class frame;

  // Statements: jinja_interpreter.cpp
  flow run_block(const block& body);
  flow run_statement(const text_statement& of);
  flow run_statement(const print_statement& of);
  flow run_statement(const if_statement& of);
  flow run_statement(const for_statement& of);
  flow run_statement(const set_statement& of);
  flow run_statement(const capture_statement& of);
  flow run_statement(const macro_statement& of);
  flow run_statement(const call_statement& of);
  flow run_statement(const scope_statement& of);
  flow run_statement(loop_exit of);
  /// What the block prints, instead of printing it.
  marked_text captured(const block& body);
  list_ref wanted_items(const for_statement& of);
  void assign(const target& to, value of);
  void set_name(std::string_view name, value of);
  const macro_data* make_macro(const macro_statement& definition);

  // Expressions: jinja_evaluator.cpp
  value evaluate(const expression_ptr& of);
  value evaluate_node(const literal& of);
  value evaluate_node(const variable& of);
  value evaluate_node(const list_display& of);
  value evaluate_node(const dict_display& of);
  value evaluate_node(const unary& of);
  value evaluate_node(const binary& of);
  value evaluate_node(const comparison& of);
  value evaluate_node(const concatenation& of);
  value evaluate_node(const choice& of);
  value evaluate_node(const attribute& of);
  value evaluate_node(const subscript& of);
  value evaluate_node(const slice& of);
  value evaluate_node(const call_expression& of);
  value evaluate_node(const filtered& of);
  value evaluate_node(const test_call& of);
  arguments evaluate(const argument_list& given);
  value apply_filter(const filter_call& filter, const value& input);
  value call(const value& callee, const arguments& given, const macro_data* caller);
  value call_macro(const macro_data& macro, const arguments& given, const macro_data* caller);
  value call_global(global_function function, const arguments& given);
  value make_namespace(const arguments& given);
  value make_range(const arguments& given);
  [[nodiscard]] const value* find_name(std::string_view name) const;

  const block& program_;
  render_limits& limits_;
  std::vector<std::pair<std::string, value>> variables_;
  std::optional<std::tm> now_;
  scope top_{nullptr, {}};
  scope* scope_ = &top_;
  marked_text output_;
  marked_text* out_ = &output_;
  std::vector<std::pair<std::string_view, value>> globals_;
  std::vector<std::unique_ptr<scope>> kept_scopes_; // captured ones whose block has ended
  std::deque<namespace_data> namespaces_;
  std::deque<loop_data> loops_;
  std::deque<macro_data> macros_;
};

/// Bounds the recursion of evaluation while it lives.
class interpreter::level {
public:
  explicit level(render_limits& limits) : limits_(limits) {
    constexpr int max_depth = 600; // well below a stack of 8 MiB, also with sanitizers
    if (++limits_.depth > max_depth) limits_.fail("macros call each other too deeply");
  }
  ~level() { --limits_.depth; }
  level(const level&) = delete;
  level& operator=(const level&) = delete;

private:
  render_limits& limits_;
};

/// A scope that is current while the frame lives.
class interpreter::frame {
public:
  frame(interpreter& owner, scope* around)
      : owner_(owner), before_(owner.scope_), inside_(std::make_unique<scope>(scope{around, {}})) {
    owner_.limits_.charge(4);
    owner_.scope_ = inside_.get();
  }
  ~frame() {
    owner_.scope_ = before_;
    if (inside_->captured) owner_.kept_scopes_.push_back(std::move(inside_));
  }
  frame(const frame&) = delete;
  frame& operator=(const frame&) = delete;

private:
  interpreter& owner_;
  scope* before_;
  std::unique_ptr<scope> inside_;
};

} // namespace omni::text::jinja
