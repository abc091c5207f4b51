#include "kernels/text/jinja_filters.hpp"

#include "kernels/text/jinja_print.hpp"
#include "kernels/text/jinja_text.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <unordered_map>

namespace omni::text::jinja {
namespace {

std::optional<double> read_number(std::string_view text) {
  text = without_white_space(text, true, true);
  if (text.starts_with('+')) text.remove_prefix(1);
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size() && !text.empty() ? std::optional(number)
                                                                                   : std::nullopt;
}

value int_filter(render_limits& limits, const value& input, const arguments& given) {
  const bound_arguments bound(limits, "int", given, {"default", "base"});
  value otherwise = bound.get(0) == nullptr ? value(std::int64_t(0)) : *bound.get(0);
  if (bound.integer(1, 10) != 10) limits.fail("int supports only base 10");
  if (const auto whole = as_integer(input)) return value(*whole);
  const auto* text = input.get_if<text_ref>();
  if (text != nullptr) {
    std::int64_t whole = 0;
    const std::string_view digits = without_white_space((*text)->text(), true, true);
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), whole);
    if (error == std::errc() && end == digits.data() + digits.size()) return value(whole);
  }
  const auto number = text == nullptr ? as_number(input) : read_number((*text)->text());
  if (!number || !(std::abs(*number) < 9e18)) return otherwise;
  return value(static_cast<std::int64_t>(*number));
}

value float_filter(render_limits& limits, const value& input, const arguments& given) {
  const bound_arguments bound(limits, "float", given, {"default"});
  const auto* text = input.get_if<text_ref>();
  const auto number = text == nullptr ? as_number(input) : read_number((*text)->text());
  if (number) return value(*number);
  return bound.get(0) == nullptr ? value(0.0) : *bound.get(0);
}

value abs_filter(render_limits& limits, const value& input, const arguments& given) {
  const bound_arguments bound(limits, "abs", given, {});
  if (const auto* number = input.get_if<double>()) return value(std::abs(*number));
  const auto whole = as_integer(input);
  if (!whole || *whole == INT64_MIN) limits.fail(std::string("abs needs a number, not ") + type_name(input));
  return value(std::abs(*whole));
}

value round_filter(render_limits& limits, const value& input, const arguments& given) {
  static constexpr std::string_view common = "common";
  const bound_arguments bound(limits, "round", given, {"precision", "method"});
  const auto number = as_number(input);
  if (!number) limits.fail(std::string("round needs a number, not ") + type_name(input));
  const double scale = std::pow(10.0, static_cast<double>(std::clamp<std::int64_t>(bound.integer(0, 0), -300, 300)));
  const std::string_view method = bound.get(1) == nullptr ? common : bound.need_text(1).text;
  const double scaled = *number * scale;
  if (!std::isfinite(scaled)) return value(*number);
  if (method == "ceil") return value(std::ceil(scaled) / scale);
  if (method == "floor") return value(std::floor(scaled) / scale);
  if (method != common) limits.fail("round knows the methods common, ceil and floor");
  return value(std::nearbyint(scaled) / scale);
}

value length_filter(render_limits& limits, const value& input, const arguments& given) {
  const bound_arguments bound(limits, "length", given, {});
  if (const auto* text = input.get_if<text_ref>()) limits.charge_bytes((*text)->size());
  const auto length = length_of(input);
  if (!length) limits.fail(std::string(type_name(input)) + " has no length");
  return value(static_cast<std::int64_t>(*length));
}

value default_filter(render_limits& limits, const value& input, const arguments& given) {
  const bound_arguments bound(limits, "default", given, {"default_value", "boolean"});
  const bool missing = input.is<undefined>() || (bound.flag(1, false) && !is_true(input));
  if (!missing) return input;
  return bound.get(0) == nullptr ? make_text("") : *bound.get(0);
}

value string_filter(render_limits& limits, const value& input, const arguments& given) {
  const bound_arguments bound(limits, "string", given, {});
  return value(to_text(limits, input));
}

/// Nothing is escaped unless a template asks for it, so marking text as safe changes nothing.
value safe_filter(render_limits& limits, const value& input, const arguments& given) {
  return string_filter(limits, input, given);
}

value tojson_filter(render_limits& limits, const value& input, const arguments& given) {
  const bound_arguments bound(limits, "tojson", given, {"ensure_ascii", "indent", "separators", "sort_keys"});
  json_style style;
  style.ensure_ascii = bound.flag(0, false);
  style.sort_keys = bound.flag(3, false);
  if (const value* indent = bound.get(1); indent != nullptr && !indent->is<none>()) {
    const auto* text = indent->get_if<text_ref>();
    const auto width = text == nullptr ? std::clamp<std::int64_t>(bound.integer(1, 0), 0, 100) : 0;
    style.indent = text == nullptr ? std::string(static_cast<std::size_t>(width), ' ') : (*text)->text();
    style.item_separator = std::string(1, ',');
  }
  if (const value* separators = bound.get(2); separators != nullptr && !separators->is<none>()) {
    const auto items = items_of(limits, *separators);
    if (items->items.size() != 2) limits.fail("tojson needs two separators");
    style.item_separator = to_text(limits, items->items[0])->text();
    style.key_separator = to_text(limits, items->items[1])->text();
  }
  marked_text out;
  append_json(limits, out, input, style);
  return make_text(std::move(out));
}

} // namespace

const filter_table& value_filters() {
  static const filter_table table = {{"int", int_filter},         {"float", float_filter},   {"abs", abs_filter},
                                     {"round", round_filter},     {"length", length_filter}, {"count", length_filter},
                                     {"default", default_filter}, {"d", default_filter},     {"string", string_filter},
                                     {"safe", safe_filter},       {"tojson", tojson_filter}};
  return table;
}

filter_function find_filter(std::string_view name) {
  static const std::unordered_map<std::string_view, filter_function> all = [] {
    std::unordered_map<std::string_view, filter_function> made;
    for (const filter_table* part : {&value_filters(), &text_filters(), &sequence_filters()})
      made.insert(part->begin(), part->end());
    return made;
  }();
  const auto found = all.find(name);
  return found == all.end() ? nullptr : found->second;
}

} // namespace omni::text::jinja
