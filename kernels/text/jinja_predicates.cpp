#include "kernels/text/jinja_filters.hpp"
#include "kernels/text/jinja_print.hpp"
#include "kernels/text/jinja_text.hpp"

#include <unordered_map>

namespace omni::text::jinja {
namespace {

using list_kind = list_data::kind;

bool is_generator(const value& of) {
  const auto* list = of.get_if<list_ref>();
  return list != nullptr && (*list)->what == list_kind::generator;
}

/// A test without arguments.
template <bool (*Test)(const value&)>
bool plain(render_limits& limits, const value& input, const arguments& given) {
  const bound_arguments bound(limits, "this test", given, {});
  return Test(input);
}

/// A test against one other value.
template <bool (*Test)(render_limits&, const value&, const value&)>
bool against(render_limits& limits, const value& input, const arguments& given) {
  const bound_arguments bound(limits, "this test", given, {"other"});
  return Test(limits, input, bound.need(0));
}

std::int64_t need_integer(render_limits& limits, const value& of) {
  const auto whole = as_integer(of);
  if (!whole) limits.fail(std::string("a test needs an integer, not ") + type_name(of));
  return *whole;
}

bool is_defined(const value& of) { return !of.is<undefined>(); }
bool is_undefined(const value& of) { return of.is<undefined>(); }
bool is_none(const value& of) { return of.is<none>(); }
bool is_boolean(const value& of) { return of.is<bool>(); }
bool is_truth(const value& of) { return of.is<bool>() && *of.get_if<bool>(); }
bool is_falsehood(const value& of) { return of.is<bool>() && !*of.get_if<bool>(); }
bool is_integer(const value& of) { return of.is<std::int64_t>(); }
bool is_float(const value& of) { return of.is<double>(); }
bool is_number(const value& of) { return as_number(of).has_value(); }
bool is_string(const value& of) { return of.is<text_ref>(); }
bool is_mapping(const value& of) { return of.is<dict_ref>(); }
bool is_sequence(const value& of) {
  return of.is<undefined>() || of.is<text_ref>() || of.is<dict_ref>() || (of.is<list_ref>() && !is_generator(of));
}
bool is_iterable(const value& of) { return is_sequence(of) || of.is<list_ref>() || of.is<const loop_data*>(); }
bool is_callable(const value& of) {
  return of.is<method_ref>() || of.is<const macro_data*>() || of.is<global_function>() || of.is<undefined>();
}

bool is_odd(render_limits& limits, const value& input, const arguments&) {
  return need_integer(limits, input) % 2 != 0;
}
bool is_even(render_limits& limits, const value& input, const arguments&) {
  return need_integer(limits, input) % 2 == 0;
}

bool is_divisible(render_limits& limits, const value& a, const value& b) {
  const std::int64_t by = need_integer(limits, b);
  if (by == 0) limits.fail("nothing is divisible by zero");
  return by == -1 || need_integer(limits, a) % by == 0;
}

bool is_same(render_limits& limits, const value& a, const value& b) {
  return a.data.index() == b.data.index() && equal(limits, a, b);
}

bool not_equal(render_limits& limits, const value& a, const value& b) { return !equal(limits, a, b); }
bool is_less(render_limits& limits, const value& a, const value& b) { return less(limits, a, b); }
bool is_greater(render_limits& limits, const value& a, const value& b) { return less(limits, b, a, ">"); }
bool is_at_most(render_limits& limits, const value& a, const value& b) {
  return equal(limits, a, b) || less(limits, a, b, "<=");
}
bool is_at_least(render_limits& limits, const value& a, const value& b) {
  return equal(limits, a, b) || less(limits, b, a, ">=");
}
bool is_in(render_limits& limits, const value& a, const value& b) { return contains(limits, b, a); }

/// Whether the text has letters with case and all of them are in `Case`.
template <letter_case Case>
bool is_in_case(render_limits& limits, const value& input, const arguments&) {
  const text_ref text = to_text(limits, input);
  limits.charge(2 * text->size());
  constexpr letter_case other = Case == letter_case::upper ? letter_case::lower : letter_case::upper;
  return in_case(text->view(), Case).text() == text->text() && in_case(text->view(), other).text() != text->text();
}

} // namespace

test_function find_test(std::string_view name) {
  static const std::unordered_map<std::string_view, test_function> table = {{"defined", plain<is_defined>},
                                                                            {"undefined", plain<is_undefined>},
                                                                            {"none", plain<is_none>},
                                                                            {"boolean", plain<is_boolean>},
                                                                            {"true", plain<is_truth>},
                                                                            {"false", plain<is_falsehood>},
                                                                            {"integer", plain<is_integer>},
                                                                            {"float", plain<is_float>},
                                                                            {"number", plain<is_number>},
                                                                            {"string", plain<is_string>},
                                                                            {"mapping", plain<is_mapping>},
                                                                            {"sequence", plain<is_sequence>},
                                                                            {"iterable", plain<is_iterable>},
                                                                            {"callable", plain<is_callable>},
                                                                            {"odd", is_odd},
                                                                            {"even", is_even},
                                                                            {"divisibleby", against<is_divisible>},
                                                                            {"sameas", against<is_same>},
                                                                            {"lower", is_in_case<letter_case::lower>},
                                                                            {"upper", is_in_case<letter_case::upper>},
                                                                            {"in", against<is_in>},
                                                                            {"eq", against<equal>},
                                                                            {"==", against<equal>},
                                                                            {"equalto", against<equal>},
                                                                            {"ne", against<not_equal>},
                                                                            {"!=", against<not_equal>},
                                                                            {"lt", against<is_less>},
                                                                            {"<", against<is_less>},
                                                                            {"lessthan", against<is_less>},
                                                                            {"gt", against<is_greater>},
                                                                            {">", against<is_greater>},
                                                                            {"greaterthan", against<is_greater>},
                                                                            {"le", against<is_at_most>},
                                                                            {"<=", against<is_at_most>},
                                                                            {"ge", against<is_at_least>},
                                                                            {">=", against<is_at_least>}};
  const auto found = table.find(name);
  return found == table.end() ? nullptr : found->second;
}

} // namespace omni::text::jinja
