#include "kernels/weights/hf_config.hpp"

#include "kernels/core/mapped_file.hpp"
#include "kernels/weights/json_text.hpp"
#include "kernels/weights/reject.hpp"

namespace omni {
namespace {

using nlohmann::json;

std::string in_words(const json* found) {
  if (found == nullptr) return "no such key";
  if (found->is_array() || found->is_object()) return found->is_array() ? "an array" : "an object";
  return shown(found->dump(-1, ' ', true, json::error_handler_t::replace));
}

bool fits(const json& number, int_range range) {
  if (number.is_number_unsigned() && number.get<std::uint64_t>() > std::uint64_t{INT64_MAX}) return false;
  return number.is_number_integer() && number.get<std::int64_t>() >= range.low &&
         number.get<std::int64_t>() <= range.high;
}

std::string expected_int(int_range range) {
  return "an integer from " + std::to_string(range.low) + " to " + std::to_string(range.high);
}

} // namespace

struct hf_config::document {
  std::string where;
  json root;
};

hf_config hf_config::load(const std::filesystem::path& path) {
  const auto file = mapped_file::open(path);
  const auto bytes = file->bytes();
  return parse({reinterpret_cast<const char*>(bytes.data()), bytes.size()}, path.string());
}

hf_config hf_config::parse(std::string_view text, std::string where) {
  auto parsed = parse_json(text, where);
  if (!parsed.is_object()) reject(where, "expected a JSON object, found " + in_words(&parsed));
  auto root = std::make_shared<const document>(document{std::move(where), std::move(parsed)});
  const json* object = &root->root;
  return {std::move(root), object, ""};
}

const std::string& hf_config::where() const { return root_->where; }

bool hf_config::has(std::string_view key) const { return lookup(key) != nullptr; }

std::vector<std::string> hf_config::keys() const {
  std::vector<std::string> all;
  for (const auto& item : object_->items()) all.push_back(item.key());
  return all;
}

const json* hf_config::lookup(std::string_view key) const {
  const auto found = object_->find(key);
  return found == object_->end() || found->is_null() ? nullptr : &*found;
}

std::string hf_config::path_of(std::string_view key) const {
  return path_.empty() ? std::string(key) : path_ + "." + std::string(key);
}

void hf_config::mismatch(std::string_view key, const std::string& expected, const json* found) const {
  reject(where(), "expected " + expected + " under key " + shown(path_of(key)) + ", found " + in_words(found));
}

std::int64_t hf_config::required_int(std::string_view key, int_range range) const {
  const json* found = lookup(key);
  if (found == nullptr || !fits(*found, range)) mismatch(key, expected_int(range), found);
  return found->get<std::int64_t>();
}

std::int64_t hf_config::int_or(std::string_view key, std::int64_t fallback, int_range range) const {
  return has(key) ? required_int(key, range) : fallback;
}

double hf_config::required_float(std::string_view key) const {
  const json* found = lookup(key);
  if (found == nullptr || !found->is_number()) mismatch(key, "a number", found);
  return found->get<double>();
}

double hf_config::float_or(std::string_view key, double fallback) const {
  return has(key) ? required_float(key) : fallback;
}

bool hf_config::required_bool(std::string_view key) const {
  const json* found = lookup(key);
  if (found == nullptr || !found->is_boolean()) mismatch(key, "true or false", found);
  return found->get<bool>();
}

bool hf_config::bool_or(std::string_view key, bool fallback) const { return has(key) ? required_bool(key) : fallback; }

std::string hf_config::required_string(std::string_view key) const {
  const json* found = lookup(key);
  if (found == nullptr || !found->is_string()) mismatch(key, "a string", found);
  return found->get<std::string>();
}

std::string hf_config::string_or(std::string_view key, std::string fallback) const {
  return has(key) ? required_string(key) : std::move(fallback);
}

template <class T, class Accept>
std::vector<T> hf_config::array(std::string_view key, const std::string& expected, Accept accept) const {
  const json* found = lookup(key);
  if (found == nullptr) return {};
  const json* begin = found->is_array() ? (found->empty() ? found : &found->front()) : found;
  const std::size_t count = found->is_array() ? found->size() : 1;
  std::vector<T> values;
  values.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    if (!accept(begin[i])) mismatch(key, expected, &begin[i]);
    values.push_back(begin[i].template get<T>());
  }
  return values;
}

std::vector<std::int64_t> hf_config::ints(std::string_view key, int_range range) const {
  return array<std::int64_t>(key, expected_int(range) + " or an array of them",
                             [&](const json& x) { return fits(x, range); });
}

std::vector<double> hf_config::floats(std::string_view key) const {
  return array<double>(key, "a number or an array of numbers", [](const json& x) { return x.is_number(); });
}

std::vector<std::string> hf_config::strings(std::string_view key) const {
  return array<std::string>(key, "a string or an array of strings", [](const json& x) { return x.is_string(); });
}

hf_config hf_config::child(std::string_view key) const {
  const json* found = lookup(key);
  if (found == nullptr || !found->is_object()) mismatch(key, "an object", found);
  return {root_, found, path_of(key)};
}

std::optional<hf_config> hf_config::find_child(std::string_view key) const {
  if (!has(key)) return std::nullopt;
  return child(key);
}

} // namespace omni
