#pragma once

#include <cstdint>
#include <functional>

namespace omni {

/// Names one request inside one engine; never reused.
struct request_id {
  std::uint64_t value = 0;
  friend auto operator<=>(const request_id&, const request_id&) = default;
};

/// Position of a stage in the pipeline, from 0; also its label in statistics.
struct stage_id {
  std::int32_t value = 0;
  friend auto operator<=>(const stage_id&, const stage_id&) = default;
};

/// Names a replica within its stage; ids may be sparse.
struct replica_id {
  std::int32_t value = 0;
  friend auto operator<=>(const replica_id&, const replica_id&) = default;
};

} // namespace omni

template <>
struct std::hash<omni::request_id> {
  std::size_t operator()(omni::request_id id) const noexcept { return std::hash<std::uint64_t>{}(id.value); }
};
