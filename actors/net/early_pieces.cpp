#include "actors/net/early_pieces.hpp"

#include <utility>

namespace omni::net {
namespace {

std::size_t size_of(const chunk& piece) {
  return sizeof(chunk) + (piece.data ? piece.data->text.size() + piece.data->bytes.size() : 0);
}

} // namespace

void early_pieces::hold(chunk piece, time_us now) {
  bytes_ += size_of(piece);
  held_.push_back({std::move(piece), now});
  while (bytes_ > most_bytes_) drop_front();
}

void early_pieces::drop_front() {
  bytes_ -= size_of(held_.front().piece);
  held_.pop_front();
}

std::vector<chunk> early_pieces::take(request_id request, std::int32_t attempt) {
  std::vector<chunk> found;
  std::deque<entry> others;
  for (auto& one : held_) {
    if (one.piece.request != request || one.piece.attempt > attempt) {
      others.push_back(std::move(one));
      continue;
    }
    bytes_ -= size_of(one.piece);
    if (one.piece.attempt == attempt) found.push_back(std::move(one.piece));
  }
  held_ = std::move(others);
  return found;
}

void early_pieces::forget_older_than(time_us now) {
  while (!held_.empty() && now - held_.front().since > keep_) drop_front();
}

void early_pieces::clear() {
  held_.clear();
  bytes_ = 0;
}

} // namespace omni::net
