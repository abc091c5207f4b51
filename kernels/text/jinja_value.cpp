#include "kernels/text/jinja_value.hpp"

#include "kernels/core/error.hpp"
#include "kernels/text/jinja_methods.hpp"
#include "kernels/text/jinja_text.hpp"
#include "kernels/text/utf8.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace omni::text::jinja {
namespace {

constexpr int max_container_depth = 100;
constexpr std::size_t units_per_element = 4; // an element's memory weighs more than its time

int depth_of(const value& of) {
  if (const auto* list = of.get_if<list_ref>()) return (*list)->depth;
  if (const auto* dict = of.get_if<dict_ref>()) return (*dict)->depth;
  return 0;
}

/// Depth of a container of `inner`.
int deeper(render_limits& limits, int deepest_inner) {
  if (deepest_inner >= max_container_depth) limits.fail("values are nested too deeply");
  return deepest_inner + 1;
}

value finished_dict(render_limits& limits, std::vector<std::pair<value, value>> entries) {
  limits.charge(2 * units_per_element * entries.size());
  int deepest = 0;
  for (const auto& [key, item] : entries) deepest = std::max({deepest, depth_of(key), depth_of(item)});
  return value(std::make_shared<const dict_data>(dict_data{std::move(entries), deeper(limits, deepest)}));
}

} // namespace

void render_limits::grant(std::size_t input_bytes) {
  units_left_ += 16 * input_bytes;
  max_text_bytes_ += 4 * input_bytes;
}

void render_limits::charge(std::size_t units) {
  if (units > units_left_) fail("rendering takes too long");
  units_left_ -= units;
}

void render_limits::charge_bytes(std::size_t bytes) {
  if (bytes > max_text_bytes_) fail("the text becomes too long");
  charge(1 + bytes / 16);
}

void render_limits::charge_growth(std::size_t now, std::size_t added) {
  if (now > max_text_bytes_) fail("the text becomes too long");
  charge_bytes(added);
}

void render_limits::charge_search(std::size_t text_bytes, std::size_t part_bytes) {
  charge(1 + text_bytes / 16 + text_bytes * part_bytes / 4096);
}

void render_limits::fail(const std::string& what) const {
  throw input_error("messages", "The model's chat template cannot render these messages (line " + std::to_string(line) +
                                    " of the template): " + what + ".");
}

void render_limits::refuse(const std::string& what) const {
  throw input_error("messages", "The model's chat template refuses these messages: " + what);
}

value make_text(marked_text text) { return value(std::make_shared<const marked_text>(std::move(text))); }

value make_text(std::string_view text) { return make_text(marked_text(std::string(text), false)); }

value make_list(render_limits& limits, std::vector<value> items, list_data::kind what) {
  limits.charge(1 + units_per_element * items.size());
  int deepest = 0;
  for (const value& item : items) deepest = std::max(deepest, depth_of(item));
  return value(std::make_shared<const list_data>(list_data{std::move(items), what, deeper(limits, deepest)}));
}

value make_dict(render_limits& limits, std::vector<std::pair<value, value>> entries) {
  dict_data unique;
  for (auto& [key, item] : entries) {
    const value* known = find_key(limits, unique, key);
    if (known != nullptr)
      const_cast<value&>(*known) = std::move(item); // `unique` is ours
    else
      unique.entries.emplace_back(std::move(key), std::move(item));
  }
  return finished_dict(limits, std::move(unique.entries));
}

value from_json(render_limits& limits, const nlohmann::ordered_json& json, bool trusted) {
  using type = nlohmann::ordered_json::value_t;
  limits.grant(1); // pays for the element
  const auto text = [&](const std::string& of) {
    limits.grant(of.size());
    return make_text(marked_text(is_valid_utf8(of) ? of : repaired_utf8(of), !trusted));
  };
  switch (json.type()) {
  case type::boolean:
    return value(json.get<bool>());
  case type::number_unsigned:
    if (json.get<std::uint64_t>() > INT64_MAX) return value(json.get<double>());
    [[fallthrough]];
  case type::number_integer:
    return value(json.get<std::int64_t>());
  case type::number_float:
    return value(json.get<double>());
  case type::string:
    return text(json.get_ref<const std::string&>());
  case type::array: {
    std::vector<value> items;
    if (++limits.depth > max_container_depth) limits.fail("they are nested too deeply");
    for (const auto& item : json) items.push_back(from_json(limits, item, trusted));
    --limits.depth;
    return make_list(limits, std::move(items));
  }
  case type::object: {
    std::vector<std::pair<value, value>> entries;
    if (++limits.depth > max_container_depth) limits.fail("they are nested too deeply");
    for (const auto& [key, item] : json.items()) entries.emplace_back(text(key), from_json(limits, item, trusted));
    --limits.depth;
    return finished_dict(limits, std::move(entries)); // JSON keys differ already
  }
  case type::null:
  case type::binary:
  case type::discarded:
    break;
  }
  return value(none{});
}

const char* type_name(const value& of) {
  static constexpr const char* names[] = {"Undefined",   "NoneType", "bool",    "int",    "float",
                                          "str",         "list",     "dict",    "method", "Namespace",
                                          "LoopContext", "Macro",    "function"};
  if (const auto* list = of.get_if<list_ref>(); list != nullptr && (*list)->what != list_data::kind::list)
    return (*list)->what == list_data::kind::tuple ? "tuple" : "generator";
  return names[of.data.index()];
}

bool is_true(const value& of) {
  if (of.is<undefined>() || of.is<none>()) return false;
  if (const auto number = as_number(of)) return *number != 0;
  if (const auto* list = of.get_if<list_ref>())
    return !(*list)->items.empty() || (*list)->what == list_data::kind::generator;
  if (const auto* dict = of.get_if<dict_ref>()) return !(*dict)->entries.empty();
  if (const auto* text = of.get_if<text_ref>()) return !(*text)->empty();
  return true;
}

std::optional<std::int64_t> as_integer(const value& of) {
  if (const auto* number = of.get_if<std::int64_t>()) return *number;
  if (const auto* flag = of.get_if<bool>()) return *flag ? 1 : 0;
  return std::nullopt;
}

std::optional<double> as_number(const value& of) {
  if (const auto* number = of.get_if<double>()) return *number;
  if (const auto whole = as_integer(of)) return static_cast<double>(*whole);
  return std::nullopt;
}

bool equal(render_limits& limits, const value& a, const value& b) {
  limits.charge(1);
  const auto whole_a = as_integer(a);
  const auto whole_b = as_integer(b);
  if (whole_a && whole_b) return *whole_a == *whole_b;
  if (const auto x = as_number(a), y = as_number(b); x && y) return *x == *y;
  if (a.data.index() != b.data.index()) return false;
  if (const auto* text = a.get_if<text_ref>()) {
    limits.charge_bytes((*text)->size());
    return (*text)->text() == (*b.get_if<text_ref>())->text();
  }
  if (const auto* list = a.get_if<list_ref>()) {
    const list_data& x = **list;
    const list_data& y = **b.get_if<list_ref>();
    return x.what == y.what && std::equal(x.items.begin(), x.items.end(), y.items.begin(), y.items.end(),
                                          [&](const value& u, const value& v) { return equal(limits, u, v); });
  }
  if (const auto* dict = a.get_if<dict_ref>()) {
    const dict_data& x = **dict;
    const dict_data& y = **b.get_if<dict_ref>();
    return x.entries.size() == y.entries.size() &&
           std::all_of(x.entries.begin(), x.entries.end(), [&](const auto& entry) {
             const value* other = find_key(limits, y, entry.first);
             return other != nullptr && equal(limits, entry.second, *other);
           });
  }
  if (const auto* name_space = a.get_if<namespace_data*>()) return *name_space == *b.get_if<namespace_data*>();
  return a.is<undefined>() || a.is<none>();
}

bool less(render_limits& limits, const value& a, const value& b, const char* op) {
  limits.charge(1);
  const auto whole_a = as_integer(a);
  const auto whole_b = as_integer(b);
  if (whole_a && whole_b) return *whole_a < *whole_b;
  if (const auto x = as_number(a), y = as_number(b); x && y) return *x < *y;
  const auto* text_a = a.get_if<text_ref>();
  const auto* text_b = b.get_if<text_ref>();
  if (text_a != nullptr && text_b != nullptr) {
    limits.charge_bytes((*text_a)->size());
    return (*text_a)->text() < (*text_b)->text();
  }
  const auto* list_a = a.get_if<list_ref>();
  const auto* list_b = b.get_if<list_ref>();
  if (list_a == nullptr || list_b == nullptr)
    limits.fail(std::string("'") + op + "' is not possible between " + type_name(a) + " and " + type_name(b));
  const auto& x = (*list_a)->items;
  const auto& y = (*list_b)->items;
  const auto same = [&](const value& u, const value& v) { return equal(limits, u, v); };
  const auto [at_a, at_b] = std::mismatch(x.begin(), x.end(), y.begin(), y.end(), same);
  return at_b != y.end() && (at_a == x.end() || less(limits, *at_a, *at_b, op));
}

bool contains(render_limits& limits, const value& container, const value& item) {
  if (const auto* text = container.get_if<text_ref>()) {
    const auto* part = item.get_if<text_ref>();
    if (part == nullptr) limits.fail(std::string("'in <string>' needs a string on its left, not ") + type_name(item));
    limits.charge_search((*text)->size(), (*part)->size());
    return (*text)->text().find((*part)->text()) != std::string::npos;
  }
  if (const auto* dict = container.get_if<dict_ref>()) return find_key(limits, **dict, item) != nullptr;
  const list_ref items = items_of(limits, container);
  return std::any_of(items->items.begin(), items->items.end(),
                     [&](const value& each) { return equal(limits, each, item); });
}

std::optional<std::size_t> length_of(const value& of) {
  if (const auto* text = of.get_if<text_ref>()) return count_characters((*text)->text());
  if (const auto* dict = of.get_if<dict_ref>()) return (*dict)->entries.size();
  if (const auto* list = of.get_if<list_ref>(); list != nullptr && (*list)->what != list_data::kind::generator)
    return (*list)->items.size();
  if (of.is<undefined>()) return 0;
  return std::nullopt;
}

list_ref items_of(render_limits& limits, const value& of) {
  if (const auto* list = of.get_if<list_ref>()) return *list;
  std::vector<value> items;
  if (const auto* dict = of.get_if<dict_ref>()) {
    for (const auto& [key, item] : (*dict)->entries) items.push_back(key);
  } else if (const auto* text = of.get_if<text_ref>()) {
    const marked_view all = (*text)->view();
    limits.charge(8 * all.size()); // before the memory is taken
    for (std::size_t at = 0; at < all.size();) {
      const std::size_t size = utf8_size(all.text[at]);
      items.push_back(make_text(marked_text(all.substr(at, size))));
      at += size;
    }
  } else if (!of.is<undefined>()) {
    limits.fail(std::string(type_name(of)) + " cannot be iterated");
  }
  return *make_list(limits, std::move(items)).get_if<list_ref>();
}

const value* find_key(render_limits& limits, const dict_data& dict, const value& key) {
  if (const auto* text = key.get_if<text_ref>()) return find_key(limits, dict, std::string_view((*text)->text()));
  for (const auto& [known, item] : dict.entries)
    if (equal(limits, known, key)) return &item;
  return nullptr;
}

const value* find_key(render_limits& limits, const dict_data& dict, std::string_view key) {
  limits.charge(1 + dict.entries.size() / 16);
  for (const auto& [known, item] : dict.entries)
    if (const auto* text = known.get_if<text_ref>(); text != nullptr && (*text)->text() == key) return &item;
  return nullptr;
}

} // namespace omni::text::jinja
