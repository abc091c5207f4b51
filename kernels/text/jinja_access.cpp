#include "kernels/text/jinja_methods.hpp"
#include "kernels/text/jinja_text.hpp"
#include "kernels/text/jinja_value.hpp"
#include "kernels/text/utf8.hpp"

#include <algorithm>

namespace omni::text::jinja {
namespace {

/// An element of a list or a character of a string by position, counted from the end if negative.
std::optional<value> element_at(const value& object, std::int64_t index) {
  const auto length = length_of(object);
  if (!length) return std::nullopt;
  const auto size = static_cast<std::int64_t>(*length);
  if (index < 0) index += size;
  if (index < 0 || index >= size) return std::nullopt;
  const auto at = static_cast<std::size_t>(index);
  if (const auto* list = object.get_if<list_ref>()) return (*list)->items[at];
  const auto* text = object.get_if<text_ref>();
  if (text == nullptr) return std::nullopt;
  const std::size_t begin = byte_of_character((*text)->text(), at);
  return make_text(marked_text((*text)->view().substr(begin, utf8_size((*text)->text()[begin]))));
}

std::optional<value> loop_attribute(render_limits& limits, const loop_data& loop, std::string_view name) {
  const auto size = loop.items->items.size();
  const auto number = [](std::size_t of) { return value(static_cast<std::int64_t>(of)); };
  if (name == "index") return number(loop.index + 1);
  if (name == "index0") return number(loop.index);
  if (name == "revindex") return number(size - loop.index);
  if (name == "revindex0") return number(size - loop.index - 1);
  if (name == "first") return value(loop.index == 0);
  if (name == "last") return value(loop.index + 1 == size);
  if (name == "length") return number(size);
  if (name == "depth") return number(1); // only recursive loops are deeper
  if (name == "depth0") return number(0);
  if (name == "previtem") return loop.index > 0 ? loop.items->items[loop.index - 1] : value();
  if (name == "nextitem") return loop.index + 1 < size ? loop.items->items[loop.index + 1] : value();
  limits.charge(1);
  return std::nullopt;
}

/// What Python's getattr finds.
std::optional<value> own_attribute(render_limits& limits, const value& object, const std::string& name) {
  if (const auto* name_space = object.get_if<namespace_data*>()) {
    for (const auto& [known, item] : (*name_space)->attributes)
      if (known == name) return item;
  }
  if (const auto* loop = object.get_if<const loop_data*>())
    if (auto found = loop_attribute(limits, **loop, name)) return found;
  if (has_method(object, name)) return value(std::make_shared<const method_data>(method_data{object, name}));
  return std::nullopt;
}

std::optional<value> own_item(render_limits& limits, const value& object, const value& key) {
  if (const auto* dict = object.get_if<dict_ref>()) {
    const value* found = find_key(limits, **dict, key);
    return found == nullptr ? std::nullopt : std::optional(*found);
  }
  if (const auto index = as_integer(key)) {
    if (const auto* text = object.get_if<text_ref>()) limits.charge_bytes((*text)->size());
    return element_at(object, *index);
  }
  return std::nullopt;
}

} // namespace

void fail_undefined(const render_limits& limits, const undefined& what) {
  limits.fail((what.name == nullptr ? std::string("a value") : "'" + *what.name + "'") + " is undefined");
}

value item_of(render_limits& limits, const value& object, const value& key) {
  if (const auto* nothing = object.get_if<undefined>()) fail_undefined(limits, *nothing);
  if (auto found = own_item(limits, object, key)) return *std::move(found);
  if (const auto* name = key.get_if<text_ref>())
    if (auto found = own_attribute(limits, object, (*name)->text())) return *std::move(found);
  return {};
}

value attribute_of(render_limits& limits, const value& object, const std::string& name) {
  if (const auto* nothing = object.get_if<undefined>()) fail_undefined(limits, *nothing);
  if (auto found = own_attribute(limits, object, name)) return *std::move(found);
  if (const auto* dict = object.get_if<dict_ref>())
    if (const value* found = find_key(limits, **dict, name)) return *found;
  return value(undefined{&name});
}

} // namespace omni::text::jinja
