#include "kernels/text/jinja_print.hpp"

#include "kernels/text/utf8.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <utf8proc.h>

namespace omni::text::jinja {
namespace {

std::string hexadecimal(char32_t code, std::size_t digits) {
  std::string out(digits, '0');
  for (std::size_t at = digits; at-- > 0; code >>= 4U) out[at] = "0123456789abcdef"[code & 15U];
  return out;
}

/// Whether Python's repr shows the character itself.
bool is_printable(char32_t code) {
  if (code == ' ') return true;
  switch (utf8proc_category(static_cast<utf8proc_int32_t>(code))) {
  case UTF8PROC_CATEGORY_CN:
  case UTF8PROC_CATEGORY_ZS:
  case UTF8PROC_CATEGORY_ZL:
  case UTF8PROC_CATEGORY_ZP:
  case UTF8PROC_CATEGORY_CC:
  case UTF8PROC_CATEGORY_CF:
  case UTF8PROC_CATEGORY_CS:
  case UTF8PROC_CATEGORY_CO:
    return false;
  default:
    return true;
  }
}

/// Appends `text` with each character that `escape` has something for replaced by it.
template <class Escape>
void append_escaped(render_limits& limits, marked_text& out, marked_view text, Escape escape) {
  limits.charge_bytes(2 * text.size());
  for (std::size_t at = 0; at < text.size();) {
    const utf8_step step = read_utf8(text.text.substr(at));
    const marked_view character = text.substr(at, step.size);
    if (const std::string escaped = escape(step.code); escaped.empty())
      out.append(character);
    else
      out.append(escaped, character.has_mark());
    at += step.size;
  }
}

void append_repr_text(render_limits& limits, marked_text& out, marked_view text) {
  const bool has_single = text.text.find('\'') != std::string_view::npos;
  const char32_t quote = has_single && text.text.find('"') == std::string_view::npos ? '"' : '\'';
  const std::string quotes(1, static_cast<char>(quote));
  out.append(quotes, false);
  append_escaped(limits, out, text, [&](char32_t code) -> std::string {
    if (code == '\\') return "\\\\";
    if (code == quote) return "\\" + quotes;
    if (code == '\n') return "\\n";
    if (code == '\r') return "\\r";
    if (code == '\t') return "\\t";
    if (is_printable(code)) return "";
    if (code < 0x100) return "\\x" + hexadecimal(code, 2);
    return code < 0x10000 ? "\\u" + hexadecimal(code, 4) : "\\U" + hexadecimal(code, 8);
  });
  out.append(quotes, false);
}

void append_json_text(render_limits& limits, marked_text& out, marked_view text, bool ensure_ascii) {
  out.append("\"", false);
  append_escaped(limits, out, text, [&](char32_t code) -> std::string {
    static constexpr std::string_view named = "\"\\\n\r\t\b\f";
    static constexpr std::string_view names = "\"\\nrtbf";
    if (const auto at = code < 0x80 ? named.find(static_cast<char>(code)) : std::string_view::npos;
        at != std::string_view::npos)
      return {'\\', names[at]};
    if (code < 0x20) return "\\u" + hexadecimal(code, 4);
    if (!ensure_ascii || code < 0x7F || code == 0x7F) return "";
    if (code < 0x10000) return "\\u" + hexadecimal(code, 4);
    const char32_t offset = code - 0x10000;
    return "\\u" + hexadecimal(0xD800 + (offset >> 10U), 4) + "\\u" + hexadecimal(0xDC00 + (offset & 0x3FFU), 4);
  });
  out.append("\"", false);
}

/// What the value prints as if it is no string and no container.
std::string scalar_text(const value& of) {
  if (of.is<undefined>()) return "Undefined";
  if (of.is<none>()) return "None";
  if (const auto* flag = of.get_if<bool>()) return *flag ? "True" : "False";
  if (const auto* number = of.get_if<std::int64_t>()) return std::to_string(*number);
  if (const auto* number = of.get_if<double>()) return float_text(*number);
  return std::string("<") + type_name(of) + ">";
}

template <class Append>
void append_joined(marked_text& out, std::size_t count, Append append_one) {
  for (std::size_t at = 0; at < count; ++at) {
    if (at > 0) out.append(", ", false);
    append_one(at);
  }
}

class json_writer {
public:
  json_writer(render_limits& limits, marked_text& out, const json_style& style)
      : limits_(limits), out_(out), style_(style) {}

  void write(const value& of) {
    limits_.charge(1);
    if (const auto* text = of.get_if<text_ref>())
      return append_json_text(limits_, out_, (*text)->view(), style_.ensure_ascii);
    if (const auto* list = of.get_if<list_ref>(); list != nullptr && (*list)->what != list_data::kind::generator)
      return write_list((*list)->items);
    if (const auto* dict = of.get_if<dict_ref>()) return write_dict(**dict);
    out_.append(scalar(of), false);
  }

private:
  std::string scalar(const value& of) {
    if (of.is<none>()) return "null";
    if (const auto* flag = of.get_if<bool>()) return *flag ? "true" : "false";
    if (const auto* number = of.get_if<double>(); number != nullptr && !std::isfinite(*number))
      return std::isnan(*number) ? "NaN" : *number < 0 ? "-Infinity" : "Infinity";
    if (of.is<std::int64_t>() || of.is<double>()) return scalar_text(of);
    if (const auto* nothing = of.get_if<undefined>(); nothing != nullptr && nothing->name != nullptr)
      fail_undefined(limits_, *nothing);
    limits_.fail(std::string("tojson cannot write ") + type_name(of));
  }

  void new_line() {
    if (!style_.indent) return;
    limits_.charge_bytes(1 + style_.indent->size() * static_cast<std::size_t>(level_));
    out_.append("\n", false);
    for (int i = 0; i < level_; ++i) out_.append(*style_.indent, false);
  }

  void separate(bool first) {
    if (!first) out_.append(style_.item_separator, false);
    new_line();
  }

  void write_list(const std::vector<value>& items) {
    if (items.empty()) return out_.append("[]", false);
    out_.append("[", false);
    ++level_;
    for (const value& item : items) {
      separate(&item == &items.front());
      write(item);
    }
    --level_;
    new_line();
    out_.append("]", false);
  }

  void write_dict(const dict_data& dict) {
    if (dict.entries.empty()) return out_.append("{}", false);
    std::vector<const std::pair<value, value>*> order;
    for (const auto& entry : dict.entries) order.push_back(&entry);
    limits_.charge(order.size());
    if (style_.sort_keys)
      std::stable_sort(order.begin(), order.end(),
                       [&](const auto* a, const auto* b) { return less(limits_, a->first, b->first); });
    out_.append("{", false);
    ++level_;
    for (const auto* entry : order) {
      separate(entry == order.front());
      write_key(entry->first);
      out_.append(style_.key_separator, false);
      write(entry->second);
    }
    --level_;
    new_line();
    out_.append("}", false);
  }

  void write_key(const value& key) {
    if (key.is<text_ref>()) return write(key);
    out_.append("\"", false);
    out_.append(scalar(key), false);
    out_.append("\"", false);
  }

  render_limits& limits_;
  marked_text& out_;
  const json_style& style_;
  int level_ = 0;
};

} // namespace

void append_str(render_limits& limits, marked_text& out, const value& of) {
  if (const auto* text = of.get_if<text_ref>()) {
    limits.charge_bytes((*text)->size());
    out.append((*text)->view());
  } else if (!of.is<undefined>()) {
    append_repr(limits, out, of);
  }
}

text_ref to_text(render_limits& limits, const value& of) {
  if (const auto* text = of.get_if<text_ref>()) return *text;
  marked_text out;
  append_str(limits, out, of);
  return std::make_shared<const marked_text>(std::move(out));
}

void append_repr(render_limits& limits, marked_text& out, const value& of) {
  limits.charge(1);
  if (const auto* text = of.get_if<text_ref>()) return append_repr_text(limits, out, (*text)->view());
  if (const auto* dict = of.get_if<dict_ref>()) {
    const auto& entries = (*dict)->entries;
    out.append("{", false);
    append_joined(out, entries.size(), [&](std::size_t at) {
      append_repr(limits, out, entries[at].first);
      out.append(": ", false);
      append_repr(limits, out, entries[at].second);
    });
    return out.append("}", false);
  }
  const auto* list = of.get_if<list_ref>();
  if (list == nullptr || (*list)->what == list_data::kind::generator) return out.append(scalar_text(of), false);
  const auto& items = (*list)->items;
  const bool tuple = (*list)->what == list_data::kind::tuple;
  out.append(tuple ? "(" : "[", false);
  append_joined(out, items.size(), [&](std::size_t at) { append_repr(limits, out, items[at]); });
  if (tuple && items.size() == 1) out.append(",", false);
  out.append(tuple ? ")" : "]", false);
}

void append_json(render_limits& limits, marked_text& out, const value& of, const json_style& style) {
  json_writer(limits, out, style).write(of);
}

std::string float_text(double of) {
  if (std::isnan(of)) return "nan";
  if (std::isinf(of)) return of < 0 ? "-inf" : "inf";
  std::array<char, 40> raw{};
  const auto end = std::to_chars(raw.data(), raw.data() + raw.size(), of, std::chars_format::scientific).ptr;
  const std::string_view text(raw.data(), static_cast<std::size_t>(end - raw.data())); // like "-1.25e+03"
  const std::size_t e = text.find('e');
  int exponent = 0;
  std::from_chars(text.data() + e + (text[e + 1] == '+' ? 2 : 1), text.data() + text.size(), exponent);
  std::string digits;
  for (const char c : text.substr(0, e))
    if (c >= '0' && c <= '9') digits += c;
  std::string out = text[0] == '-' ? "-" : "";
  const int count = static_cast<int>(digits.size());
  if (exponent < -4 || exponent >= 16) {
    out.append(digits, 0, 1).append(count > 1 ? "." : "").append(digits, 1).append(exponent < 0 ? "e-" : "e+");
    return out.append(std::abs(exponent) < 10 ? "0" : "").append(std::to_string(std::abs(exponent)));
  }
  if (exponent < 0) return out.append("0.").append(static_cast<std::size_t>(-exponent - 1), '0').append(digits);
  const auto whole = static_cast<std::size_t>(exponent) + 1; // digits before the point
  if (digits.size() <= whole) return out.append(digits).append(whole - digits.size(), '0').append(".0");
  return out.append(digits, 0, whole).append(".").append(digits, whole);
}

} // namespace omni::text::jinja
