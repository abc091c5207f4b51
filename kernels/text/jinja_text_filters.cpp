#include "kernels/text/jinja_filters.hpp"
#include "kernels/text/jinja_format.hpp"
#include "kernels/text/jinja_print.hpp"
#include "kernels/text/jinja_text.hpp"
#include "kernels/text/utf8.hpp"

#include <algorithm>

namespace omni::text::jinja {
namespace {

template <letter_case To>
value case_filter(render_limits& limits, const value& input, const arguments& given) {
  const bound_arguments bound(limits, To == letter_case::upper ? "upper" : "lower", given, {});
  const text_ref text = to_text(limits, input);
  limits.charge(text->size());
  return make_text(in_case(text->view(), To));
}

value capitalize_filter(render_limits& limits, const value& input, const arguments& given) {
  const bound_arguments bound(limits, "capitalize", given, {});
  const text_ref text = to_text(limits, input);
  limits.charge(text->size());
  return make_text(capitalized(text->view()));
}

/// Unlike the method of that name: words begin behind white space and opening brackets only.
value title_filter(render_limits& limits, const value& input, const arguments& given) {
  const bound_arguments bound(limits, "title", given, {});
  const text_ref text = to_text(limits, input);
  limits.charge(text->size());
  const auto is_border = [](char32_t code) {
    return is_python_space(code) || code == '-' || code == '(' || code == '{' || code == '[' || code == '<';
  };
  marked_text out;
  const marked_view all = text->view();
  for (std::size_t at = 0; at < all.size();) {
    std::size_t end = at;
    const bool border = is_border(read_utf8(all.text.substr(at)).code);
    while (end < all.size() && is_border(read_utf8(all.text.substr(end)).code) == border)
      end += utf8_size(all.text[end]);
    const marked_view part = all.substr(at, end - at);
    out.append(border ? part : capitalized(part).view());
    at = end;
  }
  return make_text(std::move(out));
}

value trim_filter(render_limits& limits, const value& input, const arguments& given) {
  const bound_arguments bound(limits, "trim", given, {"chars"});
  const text_ref text = to_text(limits, input);
  limits.charge_bytes(text->size());
  const marked_text* unwanted = bound.text_or_null(0);
  const std::string_view kept = unwanted == nullptr ? without_white_space(text->text(), true, true)
                                                    : without_characters(text->text(), unwanted->text(), true, true);
  if (kept.size() == text->size()) return value(text);
  return make_text(marked_text(part_of(text->view(), kept)));
}

value replace_filter(render_limits& limits, const value& input, const arguments& given) {
  const bound_arguments bound(limits, "replace", given, {"old", "new", "count"});
  const text_ref old = to_text(limits, bound.need(0));
  const text_ref by = to_text(limits, bound.need(1));
  return replace_text(limits, to_text(limits, input)->view(), old->view(), by->view(), bound.integer(2, -1));
}

value indent_filter(render_limits& limits, const value& input, const arguments& given) {
  constexpr std::int64_t max_width = 1000;
  const bound_arguments bound(limits, "indent", given, {"width", "first", "blank"});
  marked_text margin(std::string(4, ' '), false);
  if (const value* width = bound.get(0); width != nullptr) {
    if (const auto* text = width->get_if<text_ref>())
      margin = **text;
    else
      margin = marked_text(
          std::string(static_cast<std::size_t>(std::clamp<std::int64_t>(bound.integer(0, 4), 0, max_width)), ' '),
          false);
  }
  const text_ref text = to_text(limits, input);
  limits.charge(2 * text->size());
  // The lines of the text and one more line end, so that a line end at its end gives an empty last line.
  std::vector<marked_view> lines = split_lines(text->view(), false);
  if (text->empty() || !split_lines(text->view().substr(text->size() - 1), false)[0].size()) lines.emplace_back();
  marked_text out;
  for (std::size_t at = 0; at < lines.size(); ++at) {
    limits.charge_bytes(margin.size() + lines[at].size());
    if (at > 0) out.append("\n", false);
    const bool wanted = at == 0 ? bound.flag(1, false) : bound.flag(2, false) || !lines[at].empty();
    if (wanted) out.append(margin.view());
    out.append(lines[at]);
  }
  return make_text(std::move(out));
}

value escape_filter(render_limits& limits, const value& input, const arguments& given) {
  const bound_arguments bound(limits, "escape", given, {});
  const text_ref text = to_text(limits, input);
  limits.charge(text->size());
  marked_text out;
  for (std::size_t at = 0; at < text->size(); ++at) {
    const marked_view byte = text->view().substr(at, 1);
    const char c = byte.text[0];
    const char* escaped = c == '&'    ? "&amp;"
                          : c == '<'  ? "&lt;"
                          : c == '>'  ? "&gt;"
                          : c == '\'' ? "&#39;"
                          : c == '"'  ? "&#34;"
                                      : nullptr;
    if (escaped != nullptr)
      out.append(escaped, byte.has_mark());
    else
      out.append(byte);
  }
  return make_text(std::move(out));
}

value format_filter(render_limits& limits, const value& input, const arguments& given) {
  if (!given.named.empty()) limits.fail("format takes no named values");
  return format_percent(limits, to_text(limits, input)->view(),
                        make_list(limits, given.positional, list_data::kind::tuple));
}

} // namespace

const filter_table& text_filters() {
  static const filter_table table = {{"upper", case_filter<letter_case::upper>},
                                     {"lower", case_filter<letter_case::lower>},
                                     {"capitalize", capitalize_filter},
                                     {"title", title_filter},
                                     {"trim", trim_filter},
                                     {"replace", replace_filter},
                                     {"indent", indent_filter},
                                     {"escape", escape_filter},
                                     {"e", escape_filter},
                                     {"format", format_filter}};
  return table;
}

} // namespace omni::text::jinja
