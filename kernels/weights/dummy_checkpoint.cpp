#include "kernels/weights/dummy_checkpoint.hpp"

#include "kernels/core/float16.hpp"
#include "kernels/weights/reject.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <random>

namespace omni {
namespace {

// A prime number of values, so that rows of no usual width are equal to each other.
constexpr std::int64_t period = 4'194'301;
constexpr float deviation = 0.02F;

void put(std::byte* values, dtype type, std::int64_t at, float value) {
  const std::uint16_t half = type == dtype::bf16 ? f32_to_bf16(value) : f32_to_f16(value);
  if (type == dtype::f32)
    std::memcpy(values + at * 4, &value, 4);
  else
    std::memcpy(values + at * 2, &half, 2);
}

/// One period of noise around `mean`: sums of four uniform numbers, which are normal enough.
buffer make_noise(dtype type, float mean) {
  buffer made(static_cast<std::size_t>(row_bytes(type, period)));
  std::mt19937_64 random; // NOLINT(cert-msc51-cpp): the same values each time are wanted
  for (std::int64_t i = 0; i < period; ++i) {
    const std::uint64_t bits = random();
    const auto part = [&](unsigned shift) { return static_cast<float>(bits >> shift & 0xffffU) / 65535.0F - 0.5F; };
    const float sum = part(0) + part(16) + part(32) + part(48); // of variance 4 / 12
    put(made.data(), type, i, mean + deviation * std::sqrt(3.0F) * sum);
  }
  return made;
}

std::uint64_t hash_of(std::string_view text) {
  std::uint64_t hash = 0xcbf29ce484222325U;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3U; // FNV-1a
  return hash;
}

} // namespace

dtype weights_type(const hf_config& config) {
  for (const char* key : {"dtype", "torch_dtype"}) {
    if (!config.has(key)) continue;
    const std::string named = config.required_string(key);
    return named == "float32" ? dtype::f32 : named == "float16" ? dtype::f16 : dtype::bf16;
  }
  const auto thinker = config.find_child("thinker_config");
  return thinker ? weights_type(*thinker) : dtype::bf16;
}

std::shared_ptr<const dummy_checkpoint> dummy_checkpoint::open(const std::filesystem::path& folder) {
  return std::make_shared<dummy_checkpoint>(folder.string(), weights_type(hf_config::load(folder / "config.json")));
}

dummy_checkpoint::dummy_checkpoint(std::string where, dtype type)
    : where_(std::move(where)), type_(type), near_zero_(make_noise(type, 0.0F)), near_one_(make_noise(type, 1.0F)) {}

std::optional<tensor> dummy_checkpoint::find(std::string_view name) const {
  const auto found = made_.find(name);
  return found == made_.end() ? std::nullopt : std::optional(found->second);
}

std::vector<std::string> dummy_checkpoint::names() const {
  std::vector<std::string> all;
  for (const auto& [name, view] : made_) all.push_back(name);
  return all;
}

tensor dummy_checkpoint::get(std::string_view name, const shape& expected) const {
  if (made_.contains(name)) return checkpoint::get(name, expected);
  const bool is_norm = expected.rank() == 1 && name.ends_with(".weight") && expected.values() <= period;
  const std::int64_t values = expected.values();
  const auto hash = static_cast<std::int64_t>(hash_of(name) >> 1U);
  // Any place will do where the tensor fits into the noise.
  const std::int64_t room = is_norm ? period - values + 1 : period;
  std::byte* const noise = is_norm ? near_one_.data() : noise_of(values + period);
  const tensor made(noise + row_bytes(type_, hash % room), type_, expected);
  made_.emplace(name, made);
  return made;
}

/// Noise of at least so many values.
std::byte* dummy_checkpoint::noise_of(std::int64_t values) const {
  const auto bytes = static_cast<std::size_t>(row_bytes(type_, values));
  if (!repeats_.empty() && repeats_.back().size() >= bytes) return repeats_.back().data();
  buffer made(bytes);
  std::size_t filled = std::min(bytes, near_zero_.size());
  std::memcpy(made.data(), near_zero_.data(), filled);
  while (filled < bytes) { // a whole number of periods is there
    const std::size_t more = std::min(filled, bytes - filled);
    std::memcpy(made.data() + filled, made.data(), more);
    filled += more;
  }
  repeats_.push_back(std::move(made));
  return repeats_.back().data();
}

} // namespace omni
