#include "kernels/text/jinja_operators.hpp"

#include "kernels/text/jinja_format.hpp"
#include "kernels/text/jinja_text.hpp"
#include "kernels/text/utf8.hpp"

#include <algorithm>
#include <cmath>

namespace omni::text::jinja {
namespace {

const char* spelling(binary_op op) {
  switch (op) {
  case binary_op::add:
    return "+";
  case binary_op::subtract:
    return "-";
  case binary_op::multiply:
    return "*";
  case binary_op::divide:
    return "/";
  case binary_op::floor_divide:
    return "//";
  case binary_op::modulo:
    return "%";
  case binary_op::power:
    return "**";
  case binary_op::logical_and:
    return "and";
  case binary_op::logical_or:
    break;
  }
  return "or";
}

void need_defined(const render_limits& limits, const value& of) {
  if (const auto* nothing = of.get_if<undefined>()) fail_undefined(limits, *nothing);
}

[[noreturn]] void fail_types(const render_limits& limits, binary_op op, const value& a, const value& b) {
  limits.fail(std::string("'") + spelling(op) + "' is not possible between " + type_name(a) + " and " + type_name(b));
}

value integer_power(const render_limits& limits, std::int64_t base, std::int64_t exponent) {
  if (exponent < 0) return value(std::pow(static_cast<double>(base), static_cast<double>(exponent)));
  if (base == 0 || base == 1) return value(exponent == 0 ? std::int64_t(1) : base);
  if (base == -1) return value(std::int64_t(exponent % 2 == 0 ? 1 : -1));
  std::int64_t result = 1;
  bool overflow = false;
  for (; exponent > 0 && !overflow; --exponent) overflow = __builtin_mul_overflow(result, base, &result);
  if (overflow) limits.fail("a number becomes too large");
  return value(result);
}

value integers(const render_limits& limits, binary_op op, std::int64_t a, std::int64_t b) {
  std::int64_t result = 0;
  const auto checked = [&](bool overflow) {
    if (overflow) limits.fail("a number becomes too large");
    return value(result);
  };
  if (op == binary_op::add) return checked(__builtin_add_overflow(a, b, &result));
  if (op == binary_op::subtract) return checked(__builtin_sub_overflow(a, b, &result));
  if (op == binary_op::multiply) return checked(__builtin_mul_overflow(a, b, &result));
  if (op == binary_op::power) return integer_power(limits, a, b);
  if (b == 0) limits.fail("a number is divided by zero");
  if (op == binary_op::divide) return value(static_cast<double>(a) / static_cast<double>(b));
  if (b == -1) return op == binary_op::modulo ? value(std::int64_t(0)) : checked(__builtin_sub_overflow(0, a, &result));
  const bool rounds_up = a % b != 0 && (a < 0) != (b < 0); // C++ rounds to zero, Python down
  return value(op == binary_op::floor_divide ? a / b - (rounds_up ? 1 : 0) : a % b + (rounds_up ? b : 0));
}

value reals(const render_limits& limits, binary_op op, double a, double b) {
  switch (op) {
  case binary_op::add:
    return value(a + b);
  case binary_op::subtract:
    return value(a - b);
  case binary_op::multiply:
    return value(a * b);
  case binary_op::power:
    return value(std::pow(a, b));
  default:
    break;
  }
  if (b == 0) limits.fail("a number is divided by zero");
  if (op == binary_op::divide) return value(a / b);
  const double down = std::floor(a / b);
  if (op == binary_op::floor_divide) return value(down);
  const double rest = std::fmod(a, b);
  return value(rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest);
}

/// A string or list several times.
value repeated(render_limits& limits, const value& of, std::int64_t times) {
  const std::size_t count =
      times < 0 ? 0 : std::min<std::size_t>(static_cast<std::size_t>(times), std::size_t(1) << 31U);
  if (const auto* text = of.get_if<text_ref>()) {
    limits.charge_bytes((*text)->size() * count);
    limits.charge((*text)->empty() ? 0 : count);
    marked_text out;
    for (std::size_t i = 0; i < count && !(*text)->empty(); ++i) out.append((*text)->view());
    return make_text(std::move(out));
  }
  const list_data& list = **of.get_if<list_ref>();
  limits.charge(8 * list.items.size() * count); // before the memory is taken
  std::vector<value> items;
  for (std::size_t i = 0; i < count && !list.items.empty(); ++i)
    items.insert(items.end(), list.items.begin(), list.items.end());
  return make_list(limits, std::move(items), list.what);
}

bool is_sequence(const value& of) {
  const auto* list = of.get_if<list_ref>();
  return of.is<text_ref>() || (list != nullptr && (*list)->what != list_data::kind::generator);
}

/// Python's rule for slices: the positions taken, in order.
struct slice_range {
  std::int64_t start;
  std::int64_t step;
  std::size_t count;
};

slice_range range_of(render_limits& limits, std::int64_t size, const value& start, const value& stop,
                     const value& step) {
  const auto number = [&](const value& of, std::int64_t absent) {
    if (of.is<undefined>() || of.is<none>()) return absent;
    const auto whole = as_integer(of);
    if (!whole) limits.fail(std::string("a slice needs integers, not ") + type_name(of));
    return *whole;
  };
  const std::int64_t by = number(step, 1);
  if (by == 0) limits.fail("a slice has step zero");
  const std::int64_t low = by > 0 ? 0 : -1;
  const std::int64_t high = by > 0 ? size : size - 1;
  const auto position = [&](const value& of, std::int64_t absent) {
    const std::int64_t at = number(of, absent);
    if (of.is<undefined>() || of.is<none>()) return absent;
    return std::clamp(at < 0 ? at + size : at, low, high);
  };
  const std::int64_t from = position(start, by > 0 ? low : high);
  const std::int64_t to = position(stop, by > 0 ? high : low);
  const std::int64_t distance = by > 0 ? to - from : from - to;
  const std::uint64_t stride = by > 0 ? static_cast<std::uint64_t>(by) : 0 - static_cast<std::uint64_t>(by);
  return {from, by,
          distance <= 0 ? 0 : static_cast<std::size_t>((static_cast<std::uint64_t>(distance) - 1) / stride + 1)};
}

value slice_text(render_limits& limits, marked_view text, const slice_range& range) {
  limits.charge(text.size());
  if (range.step == 1) {
    const std::size_t begin = byte_of_character(text.text, static_cast<std::size_t>(range.start));
    const marked_view rest = text.substr(begin);
    return make_text(marked_text(rest.substr(0, byte_of_character(rest.text, range.count))));
  }
  std::vector<std::size_t> begins;
  for (std::size_t at = 0; at < text.size(); at += utf8_size(text.text[at])) begins.push_back(at);
  marked_text out;
  for (std::size_t i = 0; i < range.count; ++i) {
    const std::size_t at = begins[static_cast<std::size_t>(range.start + static_cast<std::int64_t>(i) * range.step)];
    out.append(text.substr(at, utf8_size(text.text[at])));
  }
  return make_text(std::move(out));
}

} // namespace

value add(render_limits& limits, const value& a, const value& b) { return apply(limits, binary_op::add, a, b); }

value apply(render_limits& limits, unary_op op, const value& of) {
  if (op == unary_op::logical_not) return value(!is_true(of));
  need_defined(limits, of);
  const std::int64_t sign = op == unary_op::negate ? -1 : 1;
  if (const auto whole = as_integer(of)) return integers(limits, binary_op::multiply, *whole, sign);
  const auto* number = of.get_if<double>();
  if (number == nullptr) limits.fail(std::string("a sign needs a number, not ") + type_name(of));
  return value(*number * static_cast<double>(sign));
}

value apply(render_limits& limits, binary_op op, const value& a, const value& b) {
  need_defined(limits, a);
  if (const auto* pattern = a.get_if<text_ref>(); pattern != nullptr && op == binary_op::modulo)
    return format_percent(limits, (*pattern)->view(), b);
  need_defined(limits, b);
  const auto whole_a = as_integer(a);
  const auto whole_b = as_integer(b);
  if (whole_a && whole_b) return integers(limits, op, *whole_a, *whole_b);
  if (const auto x = as_number(a), y = as_number(b); x && y) return reals(limits, op, *x, *y);
  if (op == binary_op::multiply && is_sequence(a) && whole_b) return repeated(limits, a, *whole_b);
  if (op == binary_op::multiply && is_sequence(b) && whole_a) return repeated(limits, b, *whole_a);
  if (op != binary_op::add || !is_sequence(a) || a.data.index() != b.data.index()) fail_types(limits, op, a, b);
  if (const auto* text = a.get_if<text_ref>()) {
    const auto* more = b.get_if<text_ref>();
    limits.charge_bytes((*text)->size() + (*more)->size());
    marked_text out;
    out.reserve((*text)->size() + (*more)->size());
    out.append((*text)->view());
    out.append((*more)->view());
    return make_text(std::move(out));
  }
  const list_data& list = **a.get_if<list_ref>();
  const list_data& more = **b.get_if<list_ref>();
  if (list.what != more.what) fail_types(limits, op, a, b);
  std::vector<value> items = list.items;
  items.insert(items.end(), more.items.begin(), more.items.end());
  return make_list(limits, std::move(items), list.what);
}

bool compare(render_limits& limits, compare_op op, const value& a, const value& b) {
  switch (op) {
  case compare_op::equal:
    return equal(limits, a, b);
  case compare_op::not_equal:
    return !equal(limits, a, b);
  case compare_op::in:
    return contains(limits, b, a);
  case compare_op::not_in:
    return !contains(limits, b, a);
  default:
    break;
  }
  need_defined(limits, a);
  need_defined(limits, b);
  const auto both_numbers = as_number(a) && as_number(b);
  const bool unordered = both_numbers && (std::isnan(*as_number(a)) || std::isnan(*as_number(b)));
  if (unordered) return false;
  if (op == compare_op::less) return less(limits, a, b);
  if (op == compare_op::greater) return less(limits, b, a, ">");
  return op == compare_op::less_equal ? !less(limits, b, a, "<=") : !less(limits, a, b, ">=");
}

value slice_of(render_limits& limits, const value& of, const value& start, const value& stop, const value& step) {
  need_defined(limits, of);
  if (!is_sequence(of)) return {}; // as Jinja: what cannot be sliced has no such item
  const auto size = static_cast<std::int64_t>(*length_of(of));
  const slice_range range = range_of(limits, size, start, stop, step);
  if (const auto* text = of.get_if<text_ref>()) return slice_text(limits, (*text)->view(), range);
  const list_data& list = **of.get_if<list_ref>();
  std::vector<value> items;
  items.reserve(range.count);
  for (std::size_t i = 0; i < range.count; ++i)
    items.push_back(list.items[static_cast<std::size_t>(range.start + static_cast<std::int64_t>(i) * range.step)]);
  return make_list(limits, std::move(items), list.what);
}

} // namespace omni::text::jinja
