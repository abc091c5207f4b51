#include "kernels/text/jinja_methods.hpp"

#include "kernels/text/jinja_format.hpp"
#include "kernels/text/jinja_print.hpp"
#include "kernels/text/jinja_text.hpp"
#include "kernels/text/utf8.hpp"

#include <algorithm>
#include <limits>
#include <unordered_map>
#include <utf8proc.h>

namespace omni::text::jinja {
namespace {

/// One call: `self` is the string, dict, list or loop.
struct call {
  render_limits& limits;
  const value& self;
  const std::string& name;
  const arguments& given;

  [[nodiscard]] marked_view text() const { return (*self.get_if<text_ref>())->view(); }
  [[nodiscard]] const dict_data& dict() const { return **self.get_if<dict_ref>(); }
  [[nodiscard]] const list_data& list() const { return **self.get_if<list_ref>(); }
  [[nodiscard]] bound_arguments bind(std::initializer_list<std::string_view> parameters) const {
    return {limits, name, given, parameters};
  }
  void no_arguments() const { static_cast<void>(bind({})); }
};

using method = value (*)(const call&);
using method_table = std::unordered_map<std::string_view, method>;

std::size_t unlimited_if_negative(std::int64_t count) {
  return count < 0 ? std::numeric_limits<std::size_t>::max() : static_cast<std::size_t>(count);
}

value text_list(render_limits& limits, const std::vector<marked_view>& parts) {
  limits.charge(8 * parts.size()); // each becomes a string of its own
  std::vector<value> items;
  items.reserve(parts.size());
  for (const marked_view part : parts) items.push_back(make_text(marked_text(part)));
  return make_list(limits, std::move(items));
}

template <bool Left, bool Right>
value strip(const call& c) {
  const auto bound = c.bind({"chars"});
  c.limits.charge_bytes(c.text().size());
  const marked_text* unwanted = bound.text_or_null(0);
  const std::string_view text = c.text().text;
  const std::string_view kept = unwanted == nullptr ? without_white_space(text, Left, Right)
                                                    : without_characters(text, unwanted->text(), Left, Right);
  return make_text(marked_text(part_of(c.text(), kept)));
}

template <bool FromRight>
value split(const call& c) {
  const auto bound = c.bind({"sep", "maxsplit"});
  const marked_text* separator = bound.text_or_null(0);
  const std::size_t limit = unlimited_if_negative(bound.integer(1, -1));
  const marked_view text = c.text();
  if (separator == nullptr) {
    c.limits.charge(2 * text.size());
    return text_list(c.limits, split_at_spaces(text, limit, FromRight));
  }
  if (separator->empty()) c.limits.fail("the separator of " + c.name + " is empty");
  c.limits.charge(2 * text.size());
  c.limits.charge_search(text.size(), separator->size());
  return text_list(c.limits, split_at(text, separator->text(), limit, FromRight));
}

template <bool FromRight>
value partition(const call& c) {
  const auto bound = c.bind({"sep"});
  const marked_view separator = bound.need_text(0);
  if (separator.empty()) c.limits.fail("the separator of " + c.name + " is empty");
  c.limits.charge_search(2 * c.text().size(), separator.size());
  std::vector<marked_view> parts = split_at(c.text(), separator.text, 1, FromRight);
  if (parts.size() == 2)
    parts.insert(parts.begin() + 1, separator);
  else
    parts.insert(FromRight ? parts.begin() : parts.end(), 2, marked_view{});
  std::vector<value> items;
  items.reserve(parts.size());
  for (const marked_view part : parts) items.push_back(make_text(marked_text(part)));
  return make_list(c.limits, std::move(items), list_data::kind::tuple);
}

value splitlines(const call& c) {
  const auto bound = c.bind({"keepends"});
  c.limits.charge(2 * c.text().size());
  return text_list(c.limits, split_lines(c.text(), bound.flag(0, false)));
}

/// Whether the text starts (or ends) with the string, or with one of a tuple of strings.
template <bool AtEnd>
value has_affix(const call& c) {
  const auto bound = c.bind({"prefix"});
  const auto matches = [&](const value& affix) {
    const auto* text = affix.get_if<text_ref>();
    if (text == nullptr) c.limits.fail(c.name + " needs strings, not " + type_name(affix));
    c.limits.charge_bytes((*text)->size());
    const std::string_view whole = c.text().text;
    return AtEnd ? whole.ends_with((*text)->text()) : whole.starts_with((*text)->text());
  };
  const value& affix = bound.need(0);
  const auto* several = affix.get_if<list_ref>();
  if (several == nullptr) return value(matches(affix));
  return value(std::any_of((*several)->items.begin(), (*several)->items.end(), matches));
}

template <bool AtEnd>
value without_affix(const call& c) {
  const auto bound = c.bind({"prefix"});
  const std::string_view affix = bound.need_text(0).text;
  marked_view text = c.text();
  c.limits.charge_bytes(text.size());
  if (AtEnd ? text.text.ends_with(affix) : text.text.starts_with(affix))
    text = text.substr(AtEnd ? 0 : affix.size(), text.size() - affix.size());
  return make_text(marked_text(text));
}

value replace(const call& c) {
  const auto bound = c.bind({"old", "new", "count"});
  return replace_text(c.limits, c.text(), bound.need_text(0), bound.need_text(1), bound.integer(2, -1));
}

template <letter_case To>
value change_case(const call& c) {
  c.no_arguments();
  c.limits.charge(c.text().size());
  return make_text(in_case(c.text(), To));
}

value title(const call& c) {
  c.no_arguments();
  c.limits.charge(c.text().size());
  return make_text(in_title_case(c.text()));
}

value capitalize(const call& c) {
  c.no_arguments();
  c.limits.charge(c.text().size());
  return make_text(capitalized(c.text()));
}

/// Position of the first or last occurrence in characters, -1 for none.
template <bool Last>
value find(const call& c) {
  const auto bound = c.bind({"sub"});
  const std::string_view part = bound.need_text(0).text;
  c.limits.charge_search(c.text().size(), part.size());
  const std::size_t found = Last ? c.text().text.rfind(part) : c.text().text.find(part);
  if (found == std::string_view::npos) return value(std::int64_t(-1));
  return value(static_cast<std::int64_t>(count_characters(c.text().text.substr(0, found))));
}

value count(const call& c) {
  const auto bound = c.bind({"sub"});
  if (c.self.is<list_ref>()) {
    std::int64_t number = 0;
    for (const value& item : c.list().items) number += equal(c.limits, item, bound.need(0)) ? 1 : 0;
    return value(number);
  }
  const std::string_view part = bound.need_text(0).text;
  c.limits.charge_search(c.text().size(), part.size());
  return value(static_cast<std::int64_t>(count_of(c.text().text, part)));
}

/// Whether there is a character and all satisfy `Wanted`.
template <bool (*Wanted)(char32_t)>
value all_are(const call& c) {
  c.no_arguments();
  c.limits.charge(c.text().size());
  for (std::string_view rest = c.text().text; !rest.empty();) {
    const utf8_step step = read_utf8(rest);
    if (!Wanted(step.code)) return value(false);
    rest.remove_prefix(step.size);
  }
  return value(!c.text().empty());
}

bool is_digit(char32_t code) {
  const auto category = utf8proc_category(static_cast<utf8proc_int32_t>(code));
  return category == UTF8PROC_CATEGORY_ND || code == 0xB2 || code == 0xB3 || code == 0xB9; // superscripts 2, 3, 1
}
bool is_letter_or_numeric(char32_t code) { return is_letter(code) || is_numeric(code); }

value join(const call& c) {
  const auto bound = c.bind({"iterable"});
  const list_ref items = items_of(c.limits, bound.need(0));
  marked_text out;
  for (std::size_t at = 0; at < items->items.size(); ++at) {
    const auto* text = items->items[at].get_if<text_ref>();
    if (text == nullptr) c.limits.fail(std::string("join needs strings, found ") + type_name(items->items[at]));
    c.limits.charge_growth(out.size(), c.text().size() + (*text)->size());
    if (at > 0) out.append(c.text());
    out.append((*text)->view());
  }
  return make_text(std::move(out));
}

value format(const call& c) { return format_braces(c.limits, c.text(), c.given); }

value dict_items(const call& c) {
  c.no_arguments();
  std::vector<value> items;
  for (const auto& [key, item] : c.dict().entries)
    items.push_back(make_list(c.limits, {key, item}, list_data::kind::tuple));
  return make_list(c.limits, std::move(items));
}

value dict_keys(const call& c) {
  c.no_arguments();
  return value(items_of(c.limits, c.self));
}

value dict_values(const call& c) {
  c.no_arguments();
  std::vector<value> items;
  for (const auto& [key, item] : c.dict().entries) items.push_back(item);
  return make_list(c.limits, std::move(items));
}

value dict_get(const call& c) {
  const auto bound = c.bind({"key", "default"});
  if (const value* found = find_key(c.limits, c.dict(), bound.need(0))) return *found;
  return bound.get(1) == nullptr ? value(none{}) : *bound.get(1);
}

value list_index(const call& c) {
  const auto bound = c.bind({"value"});
  const auto& items = c.list().items;
  for (std::size_t at = 0; at < items.size(); ++at)
    if (equal(c.limits, items[at], bound.need(0))) return value(static_cast<std::int64_t>(at));
  c.limits.fail("the list does not hold the value that index looks for");
}

value copy(const call& c) {
  c.no_arguments();
  return c.self;
}

value loop_cycle(const call& c) {
  const auto& choices = c.given.positional;
  if (choices.empty()) c.limits.fail("loop.cycle needs values");
  return choices[(*c.self.get_if<const loop_data*>())->index % choices.size()];
}

value loop_changed(const call& c) {
  const loop_data& loop = **c.self.get_if<const loop_data*>();
  value now = make_list(c.limits, c.given.positional, list_data::kind::tuple);
  const bool same = !loop.last_change.empty() && equal(c.limits, loop.last_change[0], now);
  if (!same) loop.last_change = {std::move(now)};
  return value(!same);
}

const method_table& methods_of(const value& self) {
  static const method_table of_text = {{"strip", strip<true, true>},
                                       {"lstrip", strip<true, false>},
                                       {"rstrip", strip<false, true>},
                                       {"split", split<false>},
                                       {"rsplit", split<true>},
                                       {"splitlines", splitlines},
                                       {"partition", partition<false>},
                                       {"rpartition", partition<true>},
                                       {"startswith", has_affix<false>},
                                       {"endswith", has_affix<true>},
                                       {"removeprefix", without_affix<false>},
                                       {"removesuffix", without_affix<true>},
                                       {"replace", replace},
                                       {"upper", change_case<letter_case::upper>},
                                       {"lower", change_case<letter_case::lower>},
                                       {"title", title},
                                       {"capitalize", capitalize},
                                       {"find", find<false>},
                                       {"rfind", find<true>},
                                       {"count", count},
                                       {"isdigit", all_are<is_digit>},
                                       {"isnumeric", all_are<is_numeric>},
                                       {"isalpha", all_are<is_letter>},
                                       {"isalnum", all_are<is_letter_or_numeric>},
                                       {"isspace", all_are<is_python_space>},
                                       {"join", join},
                                       {"format", format}};
  static const method_table of_dict = {
      {"items", dict_items}, {"keys", dict_keys}, {"values", dict_values}, {"get", dict_get}, {"copy", copy}};
  static const method_table of_list = {{"index", list_index}, {"count", count}, {"copy", copy}};
  static const method_table of_loop = {{"cycle", loop_cycle}, {"changed", loop_changed}};
  static const method_table of_others;
  if (self.is<text_ref>()) return of_text;
  if (self.is<dict_ref>()) return of_dict;
  if (self.is<list_ref>()) return of_list;
  return self.is<const loop_data*>() ? of_loop : of_others;
}

} // namespace

bool has_method(const value& self, std::string_view name) { return methods_of(self).contains(name); }

value call_method(render_limits& limits, const method_data& found, const arguments& given) {
  return methods_of(found.self).at(found.name)({limits, found.self, found.name, given});
}

} // namespace omni::text::jinja
