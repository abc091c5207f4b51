#include "kernels/text/jinja_filters.hpp"
#include "kernels/text/jinja_operators.hpp"
#include "kernels/text/jinja_print.hpp"
#include "kernels/text/jinja_text.hpp"

#include <algorithm>
#include <charconv>

namespace omni::text::jinja {
namespace {

/// What lazy filters give.
value generator(render_limits& limits, std::vector<value> items) {
  return make_list(limits, std::move(items), list_data::kind::generator);
}

/// Lazy filters pass over None and all that is false.
list_ref items_or_nothing(render_limits& limits, const value& input) {
  return items_of(limits, is_true(input) ? input : value());
}

/// What values are compared by: the element at `path` (null: the value itself), strings in lower case unless
/// `case_sensitive`.
value sort_key(render_limits& limits, const value& of, const value* path, bool case_sensitive) {
  value key = path == nullptr || path->is<none>() ? of : element_at_path(limits, of, *path);
  const auto* text = key.get_if<text_ref>();
  if (case_sensitive || text == nullptr) return key;
  limits.charge((*text)->size());
  return make_text(in_case((*text)->view(), letter_case::lower));
}

value first_filter(render_limits& limits, const value& input, const arguments& given) {
  const bound_arguments bound(limits, "first", given, {});
  const list_ref items = items_of(limits, input);
  return items->items.empty() ? value() : items->items.front();
}

value last_filter(render_limits& limits, const value& input, const arguments& given) {
  const bound_arguments bound(limits, "last", given, {});
  const list_ref items = items_of(limits, input);
  return items->items.empty() ? value() : items->items.back();
}

value list_filter(render_limits& limits, const value& input, const arguments& given) {
  const bound_arguments bound(limits, "list", given, {});
  return make_list(limits, items_of(limits, input)->items);
}

value items_filter(render_limits& limits, const value& input, const arguments& given) {
  const bound_arguments bound(limits, "items", given, {});
  if (input.is<undefined>()) return generator(limits, {});
  const auto* dict = input.get_if<dict_ref>();
  if (dict == nullptr) limits.fail(std::string("items needs a mapping, not ") + type_name(input));
  std::vector<value> items;
  for (const auto& [key, item] : (*dict)->entries)
    items.push_back(make_list(limits, {key, item}, list_data::kind::tuple));
  return generator(limits, std::move(items));
}

value join_filter(render_limits& limits, const value& input, const arguments& given) {
  const bound_arguments bound(limits, "join", given, {"d", "attribute"});
  const text_ref separator =
      bound.get(0) == nullptr ? std::make_shared<const marked_text>() : to_text(limits, *bound.get(0));
  const list_ref items = items_of(limits, input);
  marked_text out;
  for (std::size_t at = 0; at < items->items.size(); ++at) {
    const value& item = items->items[at];
    limits.charge_growth(out.size(), separator->size());
    if (at > 0) out.append(separator->view());
    append_str(limits, out, bound.get(1) == nullptr ? item : element_at_path(limits, item, *bound.get(1)));
  }
  return make_text(std::move(out));
}

value reverse_filter(render_limits& limits, const value& input, const arguments& given) {
  const bound_arguments bound(limits, "reverse", given, {});
  std::vector<value> items = items_of(limits, input)->items;
  std::reverse(items.begin(), items.end());
  if (!input.is<text_ref>()) return generator(limits, std::move(items));
  marked_text out;
  for (const value& character : items) append_str(limits, out, character);
  return make_text(std::move(out));
}

value sort_filter(render_limits& limits, const value& input, const arguments& given) {
  const bound_arguments bound(limits, "sort", given, {"reverse", "case_sensitive", "attribute"});
  std::vector<std::pair<value, value>> keyed;
  const list_ref items = items_of(limits, input);
  for (const value& item : items->items)
    keyed.emplace_back(sort_key(limits, item, bound.get(2), bound.flag(1, false)), item);
  const bool reverse = bound.flag(0, false);
  std::stable_sort(keyed.begin(), keyed.end(), [&](const auto& a, const auto& b) {
    return reverse ? less(limits, b.first, a.first) : less(limits, a.first, b.first);
  });
  std::vector<value> sorted;
  sorted.reserve(keyed.size());
  for (auto& [key, item] : keyed) sorted.push_back(std::move(item));
  return make_list(limits, std::move(sorted));
}

value dictsort_filter(render_limits& limits, const value& input, const arguments& given) {
  const bound_arguments bound(limits, "dictsort", given, {"case_sensitive", "by", "reverse"});
  const auto* dict = input.get_if<dict_ref>();
  if (dict == nullptr) limits.fail(std::string("dictsort needs a mapping, not ") + type_name(input));
  const bool by_value = bound.get(1) != nullptr && bound.need_text(1).text == "value";
  const bool reverse = bound.flag(2, false);
  std::vector<std::pair<value, value>> keyed;
  for (const auto& [key, item] : (*dict)->entries)
    keyed.emplace_back(sort_key(limits, by_value ? item : key, nullptr, bound.flag(0, false)),
                       make_list(limits, {key, item}, list_data::kind::tuple));
  std::stable_sort(keyed.begin(), keyed.end(), [&](const auto& a, const auto& b) {
    return reverse ? less(limits, b.first, a.first) : less(limits, a.first, b.first);
  });
  std::vector<value> sorted;
  sorted.reserve(keyed.size());
  for (auto& [key, pair] : keyed) sorted.push_back(std::move(pair));
  return make_list(limits, std::move(sorted));
}

value unique_filter(render_limits& limits, const value& input, const arguments& given) {
  const bound_arguments bound(limits, "unique", given, {"case_sensitive", "attribute"});
  std::vector<value> seen;
  std::vector<value> kept;
  const list_ref items = items_of(limits, input);
  for (const value& item : items->items) {
    value key = sort_key(limits, item, bound.get(1), bound.flag(0, false));
    if (std::any_of(seen.begin(), seen.end(), [&](const value& known) { return equal(limits, known, key); })) continue;
    seen.push_back(std::move(key));
    kept.push_back(item);
  }
  return generator(limits, std::move(kept));
}

template <bool Largest>
value extreme_filter(render_limits& limits, const value& input, const arguments& given) {
  const bound_arguments bound(limits, Largest ? "max" : "min", given, {"case_sensitive", "attribute"});
  value best;
  value best_key;
  const list_ref items = items_of(limits, input);
  for (const value& item : items->items) {
    value key = sort_key(limits, item, bound.get(1), bound.flag(0, false));
    const bool better =
        best_key.is<undefined>() || (Largest ? less(limits, best_key, key) : less(limits, key, best_key));
    if (!better) continue;
    best_key = std::move(key);
    best = item;
  }
  return best;
}

value sum_filter(render_limits& limits, const value& input, const arguments& given) {
  const bound_arguments bound(limits, "sum", given, {"attribute", "start"});
  value total = bound.get(1) == nullptr ? value(std::int64_t(0)) : *bound.get(1);
  const list_ref items = items_of(limits, input);
  for (const value& item : items->items) {
    const bool whole = bound.get(0) == nullptr || bound.get(0)->is<none>();
    total = add(limits, total, whole ? item : element_at_path(limits, item, *bound.get(0)));
  }
  return total;
}

value map_filter(render_limits& limits, const value& input, const arguments& given) {
  std::vector<value> mapped;
  const list_ref items = items_or_nothing(limits, input);
  if (given.positional.empty()) {
    const bound_arguments bound(limits, "map", given, {"attribute", "default"});
    for (const value& item : items->items) {
      value found = element_at_path(limits, item, bound.need(0));
      if (found.is<undefined>() && bound.get(1) != nullptr) found = *bound.get(1);
      mapped.push_back(std::move(found));
    }
    return generator(limits, std::move(mapped));
  }
  const std::string name = to_text(limits, given.positional[0])->text();
  const filter_function filter = find_filter(name);
  if (filter == nullptr) limits.fail("the filter '" + name + "' is not known");
  const arguments rest{{given.positional.begin() + 1, given.positional.end()}, given.named};
  for (const value& item : items->items) mapped.push_back(filter(limits, item, rest));
  return generator(limits, std::move(mapped));
}

/// select and reject, and their twins that look at an attribute: keeps the items whose test gives `Wanted`.
template <bool Wanted, bool OfAttribute>
value select_filter(render_limits& limits, const value& input, const arguments& given) {
  constexpr std::size_t first = OfAttribute ? 1 : 0; // index of the test among the arguments
  if (given.positional.size() < first) limits.fail("selectattr and rejectattr need the name of an attribute");
  test_function test = nullptr;
  arguments rest;
  if (given.positional.size() > first) {
    const std::string name = to_text(limits, given.positional[first])->text();
    test = find_test(name);
    if (test == nullptr) limits.fail("the test '" + name + "' is not known");
    rest = {{given.positional.begin() + first + 1, given.positional.end()}, given.named};
  }
  std::vector<value> kept;
  const list_ref items = items_or_nothing(limits, input);
  for (const value& item : items->items) {
    limits.charge(1);
    const value looked_at = OfAttribute ? element_at_path(limits, item, given.positional[0]) : item;
    if ((test == nullptr ? is_true(looked_at) : test(limits, looked_at, rest)) == Wanted) kept.push_back(item);
  }
  return generator(limits, std::move(kept));
}

} // namespace

value element_at_path(render_limits& limits, const value& of, const value& path) {
  const auto* text = path.get_if<text_ref>();
  if (text == nullptr) return item_of(limits, of, path);
  value found = of;
  for (const marked_view part : split_at((*text)->view(), ".", (*text)->size(), false)) {
    std::int64_t index = 0;
    const char* end = part.text.data() + part.size();
    const bool is_index = !part.empty() && std::from_chars(part.text.data(), end, index).ptr == end;
    found = item_of(limits, found, is_index ? value(index) : make_text(marked_text(part)));
  }
  return found;
}

const filter_table& sequence_filters() {
  static const filter_table table = {{"first", first_filter},
                                     {"last", last_filter},
                                     {"list", list_filter},
                                     {"items", items_filter},
                                     {"join", join_filter},
                                     {"reverse", reverse_filter},
                                     {"sort", sort_filter},
                                     {"dictsort", dictsort_filter},
                                     {"unique", unique_filter},
                                     {"min", extreme_filter<false>},
                                     {"max", extreme_filter<true>},
                                     {"sum", sum_filter},
                                     {"map", map_filter},
                                     {"select", select_filter<true, false>},
                                     {"reject", select_filter<false, false>},
                                     {"selectattr", select_filter<true, true>},
                                     {"rejectattr", select_filter<false, true>}};
  return table;
}

} // namespace omni::text::jinja
