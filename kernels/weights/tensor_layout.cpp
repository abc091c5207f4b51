#include "kernels/weights/tensor_layout.hpp"

#include "kernels/weights/reject.hpp"

#include <algorithm>
#include <limits>

namespace omni {
namespace {
constexpr int shape_axes = 4;
constexpr std::size_t most_axes = 8;
} // namespace

std::uint64_t checked_bytes(const std::string& where, const tensor_entry& entry) {
  if (entry.extents.size() > most_axes)
    reject(where, "tensor " + shown(entry.name) + " has " + std::to_string(entry.extents.size()) +
                      " axes, expected at most " + std::to_string(most_axes));
  // Empty axes count as one here, so that every partial product is known to fit.
  std::int64_t values = 1;
  bool fits = true;
  bool empty = false;
  for (const auto extent : entry.extents) {
    fits = fits && !__builtin_mul_overflow(values, std::max<std::uint64_t>(extent, 1), &values);
    empty = empty || extent == 0;
  }
  std::int64_t bits = 0; // leaves room for the byte count of any type
  if (!fits || __builtin_mul_overflow(values, std::int64_t{64}, &bits))
    reject_damaged(where, "the size of tensor " + shown(entry.name) + " is beyond any memory");
  const std::uint64_t columns = entry.extents.empty() ? 1 : entry.extents.back();
  const auto block = static_cast<std::uint64_t>(info(entry.type).block_values);
  if (columns % block != 0)
    reject_damaged(where, "a row of tensor " + shown(entry.name) + " has " + std::to_string(columns) +
                              " values, expected a multiple of " + std::to_string(block) + " for type " +
                              std::string(info(entry.type).name));
  return empty ? 0 : static_cast<std::uint64_t>(row_bytes(entry.type, values));
}

tensor view_of(const tensor_entry& entry, const std::byte* data) {
  shape extents;
  std::int64_t last = 1;
  for (std::size_t axis = 0; axis < entry.extents.size(); ++axis) {
    const auto extent = static_cast<std::int64_t>(entry.extents[axis]);
    if (axis + 1 < shape_axes)
      extents.append(extent);
    else
      last *= extent;
  }
  if (entry.extents.size() >= shape_axes) extents.append(last);
  // A tensor's pointer is mutable because ops write some; views of files are only read.
  return {const_cast<std::byte*>(data), entry.type, extents};
}

std::vector<const tensor_entry*> in_file_order(const std::string& where, const std::vector<tensor_entry>& entries) {
  std::vector<const tensor_entry*> order;
  order.reserve(entries.size());
  for (const auto& entry : entries) order.push_back(&entry);
  std::sort(order.begin(), order.end(), [](const tensor_entry* a, const tensor_entry* b) {
    return a->begin != b->begin ? a->begin < b->begin : a->end < b->end;
  });
  for (std::size_t i = 1; i < order.size(); ++i)
    if (order[i]->begin < order[i - 1]->end)
      reject_damaged(where, "tensors " + shown(order[i - 1]->name) + " and " + shown(order[i]->name) + " overlap");
  return order;
}

} // namespace omni
