#include "kernels/text/token_table.hpp"

#include "kernels/core/check.hpp"

#include <algorithm>
#include <bit>
#include <functional>

namespace omni::text {
namespace {

std::uint32_t hash_of(std::string_view bytes) {
  const std::size_t hash = std::hash<std::string_view>()(bytes);
  return static_cast<std::uint32_t>(hash ^ hash >> 32U);
}

} // namespace

token_table::token_table(const std::vector<token>& tokens) {
  const auto spelled = std::count_if(tokens.begin(), tokens.end(), [](const token& each) { return each.spelled; });
  index_.assign(std::bit_ceil(2 * static_cast<std::size_t>(spelled) + 2), slot{0, none});
  begin_.reserve(tokens.size() + 1);
  flags_.reserve(tokens.size());
  begin_.push_back(0);
  for (const token& each : tokens) {
    blob_.insert(blob_.end(), each.bytes.begin(), each.bytes.end());
    begin_.push_back(blob_.size());
    flags_.push_back(static_cast<std::uint8_t>((each.exists ? exists_bit : 0) | (each.spelled ? spelled_bit : 0) |
                                               (each.special ? special_bit : 0)));
    if (!each.spelled) continue;
    const std::uint32_t hash = hash_of(each.bytes);
    slot& place = index_[slot_of(each.bytes, hash)];
    OMNI_CHECK(place.id == none, "spelled tokens differ");
    place = {hash, static_cast<std::int32_t>(flags_.size()) - 1};
  }
}

std::size_t token_table::slot_of(std::string_view wanted, std::uint32_t hash) const {
  const std::size_t mask = index_.size() - 1;
  std::size_t at = hash & mask;
  while (index_[at].id != none && !(index_[at].hash == hash && bytes(index_[at].id) == wanted)) at = (at + 1) & mask;
  return at;
}

std::string_view token_table::bytes(std::int32_t id) const {
  if (id < 0 || id >= size()) return {};
  const auto at = static_cast<std::size_t>(id);
  return {blob_.data() + begin_[at], begin_[at + 1] - begin_[at]};
}

std::int32_t token_table::find(std::string_view wanted) const { return index_[slot_of(wanted, hash_of(wanted))].id; }

} // namespace omni::text
