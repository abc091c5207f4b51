#include "kernels/text/jinja_date.hpp"
#include "kernels/text/jinja_filters.hpp"
#include "kernels/text/jinja_interpreter.hpp"
#include "kernels/text/jinja_methods.hpp"
#include "kernels/text/jinja_operators.hpp"
#include "kernels/text/jinja_print.hpp"

#include <algorithm>

namespace omni::text::jinja {

value interpreter::evaluate(const expression_ptr& of) {
  if (!of) return {};
  const level guard(limits_);
  limits_.charge(1);
  limits_.line = of->line;
  return std::visit([this](const auto& node) { return evaluate_node(node); }, of->node);
}

const value* interpreter::find_name(std::string_view name) const {
  const auto find_in = [&](const auto& names) -> const value* {
    for (const auto& [known, item] : names)
      if (known == name) return &item;
    return nullptr;
  };
  for (const scope* each = scope_; each != nullptr; each = each->around)
    if (const value* found = find_in(each->names)) return found;
  if (const value* found = find_in(variables_)) return found;
  return find_in(globals_);
}

value interpreter::evaluate_node(const literal& of) { return of.constant; }

value interpreter::evaluate_node(const variable& of) {
  const value* found = find_name(of.name);
  return found == nullptr ? value(undefined{&of.name}) : *found;
}

value interpreter::evaluate_node(const list_display& of) {
  std::vector<value> items;
  for (const expression_ptr& each : of.items) items.push_back(evaluate(each));
  return make_list(limits_, std::move(items), of.tuple ? list_data::kind::tuple : list_data::kind::list);
}

value interpreter::evaluate_node(const dict_display& of) {
  std::vector<std::pair<value, value>> entries;
  for (const auto& [key, item] : of.entries) {
    value known = evaluate(key);
    entries.emplace_back(std::move(known), evaluate(item));
  }
  return make_dict(limits_, std::move(entries));
}

value interpreter::evaluate_node(const unary& of) { return apply(limits_, of.op, evaluate(of.operand)); }

value interpreter::evaluate_node(const binary& of) {
  value left = evaluate(of.left);
  if (of.op == binary_op::logical_and) return is_true(left) ? evaluate(of.right) : left;
  if (of.op == binary_op::logical_or) return is_true(left) ? left : evaluate(of.right);
  return apply(limits_, of.op, left, evaluate(of.right));
}

value interpreter::evaluate_node(const comparison& of) {
  value left = evaluate(of.first);
  for (const auto& [op, expression] : of.rest) {
    value right = evaluate(expression);
    if (!compare(limits_, op, left, right)) return value(false);
    left = std::move(right);
  }
  return value(true);
}

value interpreter::evaluate_node(const concatenation& of) {
  marked_text text;
  for (const expression_ptr& each : of.parts) append_str(limits_, text, evaluate(each));
  limits_.charge_bytes(text.size());
  return make_text(std::move(text));
}

value interpreter::evaluate_node(const choice& of) {
  return is_true(evaluate(of.condition)) ? evaluate(of.chosen) : evaluate(of.otherwise);
}

value interpreter::evaluate_node(const attribute& of) { return attribute_of(limits_, evaluate(of.object), of.name); }

value interpreter::evaluate_node(const subscript& of) {
  const value object = evaluate(of.object);
  return item_of(limits_, object, evaluate(of.key));
}

value interpreter::evaluate_node(const slice& of) {
  const value object = evaluate(of.object);
  const value start = evaluate(of.start);
  const value stop = evaluate(of.stop);
  return slice_of(limits_, object, start, stop, evaluate(of.step));
}

arguments interpreter::evaluate(const argument_list& given) {
  arguments made;
  for (const expression_ptr& each : given.positional) made.positional.push_back(evaluate(each));
  for (const auto& [name, each] : given.named) made.named.emplace_back(name, evaluate(each));
  return made;
}

value interpreter::evaluate_node(const call_expression& of) {
  const value callee = evaluate(of.callee);
  return call(callee, evaluate(of.given), nullptr);
}

value interpreter::evaluate_node(const filtered& of) {
  const value input = evaluate(of.input);
  return apply_filter(of.filter, input);
}

value interpreter::apply_filter(const filter_call& filter, const value& input) {
  if (filter.function == nullptr) limits_.fail("the filter '" + filter.name + "' is not known");
  return filter.function(limits_, input, evaluate(filter.given));
}

value interpreter::evaluate_node(const test_call& of) {
  const value input = evaluate(of.input);
  if (of.function == nullptr) limits_.fail("the test '" + of.name + "' is not known");
  return value(of.function(limits_, input, evaluate(of.given)) != of.negated);
}

value interpreter::call(const value& callee, const arguments& given, const macro_data* caller) {
  if (const auto* nothing = callee.get_if<undefined>()) fail_undefined(limits_, *nothing);
  if (const auto* method = callee.get_if<method_ref>()) return call_method(limits_, **method, given);
  if (const auto* macro = callee.get_if<const macro_data*>()) return call_macro(**macro, given, caller);
  if (const auto* global = callee.get_if<global_function>()) return call_global(*global, given);
  limits_.fail(std::string(type_name(callee)) + " cannot be called");
}

value interpreter::call_macro(const macro_data& macro, const arguments& given, const macro_data* caller) {
  const macro_statement& definition = *macro.definition;
  const auto& parameters = definition.parameters;
  if (given.positional.size() > parameters.size())
    limits_.fail("the macro '" + definition.name + "' takes at most " + std::to_string(parameters.size()) +
                 " arguments");
  for (const auto& [name, item] : given.named)
    if (std::none_of(parameters.begin(), parameters.end(),
                     [&, &key = name](const auto& each) { return each.name == key; }))
      limits_.fail("the macro '" + definition.name + "' has no parameter '" + name + "'");
  marked_text text;
  marked_text* before = std::exchange(out_, &text);
  const frame inside(*this, macro.around);
  for (std::size_t at = 0; at < parameters.size(); ++at) {
    const auto& parameter = parameters[at];
    const auto named = std::find_if(given.named.begin(), given.named.end(),
                                    [&](const auto& each) { return each.first == parameter.name; });
    if (at < given.positional.size())
      set_name(parameter.name, given.positional[at]);
    else if (named != given.named.end())
      set_name(parameter.name, named->second);
    else
      set_name(parameter.name, parameter.otherwise ? evaluate(parameter.otherwise) : value(undefined{&parameter.name}));
  }
  if (caller != nullptr) set_name("caller", value(caller));
  run_block(definition.body);
  out_ = before;
  return make_text(std::move(text));
}

value interpreter::call_global(global_function function, const arguments& given) {
  switch (function) {
  case global_function::range:
    return make_range(given);
  case global_function::make_namespace:
    return make_namespace(given);
  case global_function::raise_exception:
    limits_.refuse(to_text(limits_, bound_arguments(limits_, "raise_exception", given, {"message"}).need(0))->text());
  case global_function::strftime_now: {
    const bound_arguments bound(limits_, "strftime_now", given, {"format"});
    const std::string_view pattern = bound.need_text(0).text;
    limits_.charge_bytes(16 * pattern.size());
    return make_text(format_date(*now_, pattern));
  }
  case global_function::dict:
    break;
  }
  std::vector<std::pair<value, value>> entries;
  if (!given.positional.empty()) {
    const auto* dict = given.positional[0].get_if<dict_ref>();
    if (dict == nullptr || given.positional.size() > 1) limits_.fail("dict takes one mapping and named values");
    entries = (*dict)->entries;
  }
  for (const auto& [name, item] : given.named) entries.emplace_back(make_text(name), item);
  return make_dict(limits_, std::move(entries));
}

value interpreter::make_namespace(const arguments& given) {
  limits_.charge(16);
  namespace_data& made = namespaces_.emplace_back();
  for (const value& each : given.positional) {
    const auto* dict = each.get_if<dict_ref>();
    if (dict == nullptr) limits_.fail("namespace takes mappings and named values");
    for (const auto& [key, item] : (*dict)->entries) made.attributes.emplace_back(to_text(limits_, key)->text(), item);
  }
  for (const auto& [name, item] : given.named) made.attributes.emplace_back(name, item);
  limits_.charge(8 * made.attributes.size());
  return value(&made);
}

value interpreter::make_range(const arguments& given) {
  constexpr std::uint64_t max_range = 100'000; // as Jinja's sandbox
  const bool only_stop = given.positional.size() == 1;
  const bound_arguments bound(limits_, "range", given, {"start", "stop", "step"});
  if (given.positional.empty()) limits_.fail("range needs a number");
  const std::int64_t start = only_stop ? 0 : bound.integer(0, 0);
  const std::int64_t stop = only_stop ? bound.integer(0, 0) : bound.integer(1, 0);
  const std::int64_t step = bound.integer(2, 1);
  if (step == 0) limits_.fail("a range has step zero");
  const bool empty = step > 0 ? start >= stop : start <= stop;
  const auto distance = empty      ? 0
                        : step > 0 ? static_cast<std::uint64_t>(stop) - static_cast<std::uint64_t>(start)
                                   : static_cast<std::uint64_t>(start) - static_cast<std::uint64_t>(stop);
  const std::uint64_t stride = step > 0 ? static_cast<std::uint64_t>(step) : 0 - static_cast<std::uint64_t>(step);
  const std::uint64_t count = empty ? 0 : (distance - 1) / stride + 1;
  if (count > max_range) limits_.fail("a range has more than 100000 numbers");
  std::vector<value> numbers;
  for (std::uint64_t i = 0; i < count; ++i) numbers.emplace_back(start + static_cast<std::int64_t>(i) * step);
  return make_list(limits_, std::move(numbers));
}

} // namespace omni::text::jinja
