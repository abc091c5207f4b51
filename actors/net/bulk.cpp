#include "actors/net/bulk.hpp"

#include <algorithm>

namespace omni::net {

void bulk_sender::push(std::vector<char> message) {
  waiting_ += message.size();
  messages_.push_back(std::move(message));
}

std::optional<bulk_sender::part> bulk_sender::next() {
  if (messages_.empty()) return std::nullopt;
  auto& front = messages_.front();
  const auto size = std::min(front.size() - sent_, limits_.part);
  if (under_way_ > 0 && under_way_ + size > limits_.window) return std::nullopt;
  part out;
  out.first = sent_ == 0;
  out.whole = front.size();
  sent_ += size;
  waiting_ -= size;
  under_way_ += size;
  const bool last = sent_ == front.size();
  if (out.first && last) {
    out.content = std::move(front);
  } else {
    const auto begin = front.begin() + std::ptrdiff_t(sent_ - size);
    out.content.assign(begin, begin + std::ptrdiff_t(size));
  }
  if (last) {
    messages_.pop_front();
    sent_ = 0;
  }
  return out;
}

bool bulk_sender::credit(std::uint64_t taken) {
  if (taken > under_way_) return false;
  under_way_ -= std::size_t(taken);
  return true;
}

bulk_receiver::outcome bulk_receiver::first(std::uint64_t whole, std::span<const char> content) {
  if (left_ > 0 || whole == 0 || whole > most_) return outcome::malformed;
  message_.clear();
  left_ = whole;
  return add(content);
}

bulk_receiver::outcome bulk_receiver::more(std::span<const char> content) {
  return left_ == 0 ? outcome::malformed : add(content);
}

bulk_receiver::outcome bulk_receiver::add(std::span<const char> content) {
  if (content.empty() || content.size() > left_) return outcome::malformed;
  message_.insert(message_.end(), content.begin(), content.end());
  left_ -= content.size();
  taken_ += content.size();
  return left_ == 0 ? outcome::complete : outcome::incomplete;
}

std::optional<std::uint64_t> bulk_receiver::credit_due(std::size_t least) {
  if (taken_ < least) return std::nullopt;
  return std::exchange(taken_, 0);
}

} // namespace omni::net
