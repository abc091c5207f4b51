#pragma once

#include "messages/chunk.hpp"
#include "messages/clock.hpp"

#include <cstddef>
#include <deque>
#include <vector>

namespace omni::net {

/// Pieces of requests that this process has not been told of yet: they come from a peer, the request from the head, and
/// either may be first. Pieces that nobody asks for are forgotten after a while, or when there are too many.
class early_pieces {
public:
  explicit early_pieces(std::size_t most_bytes = std::size_t(64) << 20U, time_us keep = 10'000'000)
      : most_bytes_(most_bytes), keep_(keep) {}

  void hold(chunk piece, time_us now);
  /// Those of a request's attempt, in order of arrival; those of earlier attempts are dropped.
  std::vector<chunk> take(request_id request, std::int32_t attempt);
  void forget_older_than(time_us now);
  void clear();
  [[nodiscard]] std::size_t size() const { return held_.size(); }

private:
  struct entry {
    chunk piece;
    time_us since = 0;
  };
  void drop_front();

  std::size_t most_bytes_;
  time_us keep_;
  std::deque<entry> held_;
  std::size_t bytes_ = 0;
};

} // namespace omni::net
