#include "kernels/text/jinja_interpreter.hpp"

#include "kernels/text/jinja_print.hpp"

#include <algorithm>

namespace omni::text::jinja {

interpreter::interpreter(const block& program, render_limits& limits,
                         std::vector<std::pair<std::string, value>> variables, const std::optional<std::tm>& now)
    : program_(program), limits_(limits), variables_(std::move(variables)), now_(now) {
  globals_ = {{"range", value(global_function::range)},
              {"namespace", value(global_function::make_namespace)},
              {"dict", value(global_function::dict)},
              {"raise_exception", value(global_function::raise_exception)}};
  if (now_) globals_.emplace_back("strftime_now", value(global_function::strftime_now));
}

marked_text interpreter::run() {
  run_block(program_);
  return std::move(output_);
}

interpreter::flow interpreter::run_block(const block& body) {
  const level guard(limits_);
  for (const statement& each : body) {
    limits_.charge(1);
    limits_.line = each.line;
    const flow after = std::visit([this](const auto& of) { return run_statement(of); }, each.node);
    if (after != flow::on) return after;
  }
  return flow::on;
}

interpreter::flow interpreter::run_statement(const text_statement& of) {
  limits_.charge_growth(out_->size(), of.text->size());
  out_->append(of.text->view());
  return flow::on;
}

interpreter::flow interpreter::run_statement(const print_statement& of) {
  const value printed = evaluate(of.of);
  append_str(limits_, *out_, printed);
  limits_.charge_growth(out_->size(), 0);
  return flow::on;
}

interpreter::flow interpreter::run_statement(const if_statement& of) {
  for (const auto& [condition, body] : of.branches)
    if (is_true(evaluate(condition))) return run_block(body);
  return run_block(of.otherwise);
}

list_ref interpreter::wanted_items(const for_statement& of) {
  list_ref all = items_of(limits_, evaluate(of.items));
  if (!of.condition) return all;
  std::vector<value> wanted;
  for (const value& item : all->items) {
    const frame inside(*this, scope_);
    assign(of.item, item);
    if (is_true(evaluate(of.condition))) wanted.push_back(item);
  }
  return *make_list(limits_, std::move(wanted)).get_if<list_ref>();
}

interpreter::flow interpreter::run_statement(const for_statement& of) {
  const list_ref items = wanted_items(of);
  if (items->items.empty()) return run_block(of.otherwise);
  limits_.charge(8);
  loop_data& loop = loops_.emplace_back();
  loop.items = items;
  flow after = flow::on;
  for (; loop.index < items->items.size() && after != flow::break_loop; ++loop.index) {
    const frame inside(*this, scope_);
    set_name("loop", value(static_cast<const loop_data*>(&loop)));
    assign(of.item, items->items[loop.index]);
    after = run_block(of.body);
  }
  return flow::on;
}

interpreter::flow interpreter::run_statement(const set_statement& of) {
  assign(of.to, evaluate(of.from));
  return flow::on;
}

marked_text interpreter::captured(const block& body) {
  marked_text text;
  marked_text* before = std::exchange(out_, &text);
  const frame inside(*this, scope_);
  run_block(body);
  out_ = before;
  return text;
}

interpreter::flow interpreter::run_statement(const capture_statement& of) {
  value text = make_text(captured(of.body));
  for (const filter_call& filter : of.filters) text = apply_filter(filter, text);
  if (of.to.name.empty() && of.to.parts.empty())
    append_str(limits_, *out_, text);
  else
    assign(of.to, std::move(text));
  return flow::on;
}

interpreter::flow interpreter::run_statement(const macro_statement& of) {
  set_name(of.name, value(make_macro(of)));
  return flow::on;
}

interpreter::flow interpreter::run_statement(const call_statement& of) {
  const auto& what = std::get<call_expression>(of.call->node);
  const value callee = evaluate(what.callee);
  append_str(limits_, *out_, call(callee, evaluate(what.given), make_macro(of.caller)));
  return flow::on;
}

interpreter::flow interpreter::run_statement(const scope_statement& of) {
  std::vector<value> values;
  for (const auto& [name, from] : of.names) values.push_back(evaluate(from)); // they do not see each other
  const frame inside(*this, scope_);
  for (std::size_t at = 0; at < values.size(); ++at) assign(of.names[at].first, std::move(values[at]));
  return run_block(of.body);
}

interpreter::flow interpreter::run_statement(loop_exit of) {
  return of == loop_exit::break_loop ? flow::break_loop : flow::continue_loop;
}

void interpreter::set_name(std::string_view name, value of) {
  auto& names = scope_->names;
  const auto known = std::find_if(names.begin(), names.end(), [&](const auto& each) { return each.first == name; });
  if (known != names.end())
    known->second = std::move(of);
  else
    names.emplace_back(name, std::move(of));
}

void interpreter::assign(const target& to, value of) {
  if (!to.parts.empty()) {
    const list_ref items = items_of(limits_, of);
    if (items->items.size() != to.parts.size())
      limits_.fail(std::to_string(items->items.size()) + " values do not fit " + std::to_string(to.parts.size()) +
                   " names");
    for (std::size_t at = 0; at < to.parts.size(); ++at) assign(to.parts[at], items->items[at]);
    return;
  }
  if (to.attribute.empty()) return set_name(to.name, std::move(of));
  const value* owner = find_name(to.name);
  if (owner == nullptr || !owner->is<namespace_data*>())
    limits_.fail("'" + to.name + "' is no namespace, so it takes no attributes");
  auto& attributes = (*owner->get_if<namespace_data*>())->attributes;
  const auto known =
      std::find_if(attributes.begin(), attributes.end(), [&](const auto& each) { return each.first == to.attribute; });
  if (known != attributes.end())
    known->second = std::move(of);
  else
    attributes.emplace_back(to.attribute, std::move(of));
}

const macro_data* interpreter::make_macro(const macro_statement& definition) {
  limits_.charge(8);
  for (scope* each = scope_; each != nullptr; each = each->around) each->captured = true;
  return &macros_.emplace_back(macro_data{&definition, scope_});
}

} // namespace omni::text::jinja
