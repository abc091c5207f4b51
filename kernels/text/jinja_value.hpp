#pragma once

#include "kernels/text/marked_text.hpp"

#include <cstdint>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace omni::text::jinja {

/// Bounds one rendering, so that a hostile template ends soon and small; knows its line, for errors.
class render_limits {
public:
  /// Raises the budget for the caller's input: a long chat may cost more.
  void grant(std::size_t input_bytes);

  /// Pays for work: one unit is about one evaluated node, or an element made. Throws when the budget is used up.
  void charge(std::size_t units);
  /// Pays for text of this length before it is made.
  void charge_bytes(std::size_t bytes);
  /// Pays for making a text of `now` bytes longer by `added` ones.
  void charge_growth(std::size_t now, std::size_t added);
  /// Pays for looking for `part_bytes` in `text_bytes`.
  void charge_search(std::size_t text_bytes, std::size_t part_bytes);

  /// Throws `input_error` about "messages": the line and `what`.
  [[noreturn]] void fail(const std::string& what) const;
  /// The template's own refusal.
  [[noreturn]] void refuse(const std::string& what) const;

  int line = 0;  // of the template, being rendered
  int depth = 0; // nested evaluations, see interpreter
private:
  std::size_t units_left_ = 2'000'000; // about 0.2 s of work; a usual chat needs a thousandth
  std::size_t max_text_bytes_ = std::size_t(16) << 20U;
};

struct value;
struct list_data;
struct dict_data;
struct method_data;
struct namespace_data;
struct loop_data;
struct macro_data;

/// What a template reads when there is nothing; prints as nothing, most else with it is an error.
struct undefined {
  const std::string* name = nullptr; // what the template called it, for errors; lives in the template
};
struct none {};

/// Functions that every template can call.
enum class global_function : std::uint8_t { range, make_namespace, dict, raise_exception, strftime_now };

using text_ref = std::shared_ptr<const marked_text>;
using list_ref = std::shared_ptr<const list_data>;
using dict_ref = std::shared_ptr<const dict_data>;
using method_ref = std::shared_ptr<const method_data>;

/// A value of the template language, with Python's meaning. Containers are immutable and shared; namespaces, loops and
/// macros live in the interpreter.
struct value {
  std::variant<undefined, none, bool, std::int64_t, double, text_ref, list_ref, dict_ref, method_ref, namespace_data*,
               const loop_data*, const macro_data*, global_function>
      data;

  value() = default;
  template <class T>
  explicit value(T of) : data(std::move(of)) {}

  template <class T>
  [[nodiscard]] const T* get_if() const {
    return std::get_if<T>(&data);
  }
  template <class T>
  [[nodiscard]] bool is() const {
    return std::holds_alternative<T>(data);
  }
};

struct list_data {
  enum class kind : std::uint8_t {
    list,
    tuple,
    generator, // made by a lazy filter: always true, without length or index, else a list
  };
  std::vector<value> items;
  kind what = kind::list;
  int depth = 1; // nested containers
};

struct dict_data {
  std::vector<std::pair<value, value>> entries; // in the order of insertion, keys differ
  int depth = 1;
};

/// A function of a value, as in `name.strip`.
struct method_data {
  value self;
  std::string name;
};

struct namespace_data {
  std::vector<std::pair<std::string, value>> attributes;
};

/// `loop` inside a for.
struct loop_data {
  list_ref items;
  std::size_t index = 0;
  mutable std::vector<value> last_change; // what loop.changed() saw; empty before its first call
};

value make_text(marked_text text);
value make_text(std::string_view text); // from the template
value make_list(render_limits& limits, std::vector<value> items, list_data::kind what = list_data::kind::list);
/// Later entries replace earlier ones of the same key.
value make_dict(render_limits& limits, std::vector<std::pair<value, value>> entries);
/// Every string in `json`, keys too, is marked as the caller's unless `trusted`.
value from_json(render_limits& limits, const nlohmann::ordered_json& json, bool trusted);

/// Python's name of the type, for errors.
const char* type_name(const value& of);
bool is_true(const value& of);
/// Equality over types as in Python (1 == 1.0 == true).
bool equal(render_limits& limits, const value& a, const value& b);
/// a < b for numbers, strings and lists; an error otherwise. `op` is for the sentence.
bool less(render_limits& limits, const value& a, const value& b, const char* op = "<");
bool contains(render_limits& limits, const value& container, const value& item);

/// Length of strings (in characters), lists and dicts; nothing for what has none.
std::optional<std::size_t> length_of(const value& of);
/// What a for loop runs over; an error for what cannot be iterated.
list_ref items_of(render_limits& limits, const value& of);
/// Says that `what` is undefined where something is needed.
[[noreturn]] void fail_undefined(const render_limits& limits, const undefined& what);

/// The value under `key`, or null.
const value* find_key(render_limits& limits, const dict_data& dict, const value& key);
const value* find_key(render_limits& limits, const dict_data& dict, std::string_view key);
/// `object[key]`: the element, else the attribute of that name, else undefined.
value item_of(render_limits& limits, const value& object, const value& key);
/// `object.name`: a method or the like, else the element, else undefined.
value attribute_of(render_limits& limits, const value& object, const std::string& name);

/// Integers and booleans as a number, nothing for others.
std::optional<std::int64_t> as_integer(const value& of);
std::optional<double> as_number(const value& of);

} // namespace omni::text::jinja
