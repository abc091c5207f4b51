#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace omni::net {

inline constexpr std::size_t most_part = std::size_t(1) << 20U;    // bytes of one part of a bulk message
inline constexpr std::size_t most_message = std::size_t(1) << 28U; // bytes of one bulk message
inline constexpr std::size_t credit_window = 8 * most_part;        // bytes of parts under way on one connection

/// What waits to be sent over one connection: messages of any size, cut into parts, as far as the receiver has taken
/// in what came before. So a large payload holds up neither the connection's control messages nor its memory.
class bulk_sender {
public:
  struct limits {
    std::size_t part = most_part;
    std::size_t window = credit_window;
  };
  /// A part of the message in front.
  struct part {
    bool first = false;
    std::uint64_t whole = 0; // bytes of the message
    std::vector<char> content;
  };

  bulk_sender() = default;
  explicit bulk_sender(limits most) : limits_(most) {}

  void push(std::vector<char> message);
  /// The next part, if one may go now.
  std::optional<part> next();
  /// The receiver has taken in so many bytes of parts. False if so many were not under way.
  [[nodiscard]] bool credit(std::uint64_t taken);
  /// Bytes that wait.
  [[nodiscard]] std::size_t waiting() const { return waiting_; }

private:
  limits limits_;
  std::deque<std::vector<char>> messages_;
  std::size_t sent_ = 0; // of the message in front
  std::size_t waiting_ = 0;
  std::size_t under_way_ = 0;
};

/// Puts the parts of one connection together again.
class bulk_receiver {
public:
  explicit bulk_receiver(std::size_t most = most_message) : most_(most) {}

  enum class outcome : std::uint8_t { incomplete, complete, malformed };
  /// Room is made for what came, never for what is announced.
  outcome first(std::uint64_t whole, std::span<const char> content);
  outcome more(std::span<const char> content);
  /// The message that was completed.
  [[nodiscard]] std::vector<char> take() { return std::exchange(message_, {}); }
  /// Credit to give back now, if it is worth a message.
  std::optional<std::uint64_t> credit_due(std::size_t least);

private:
  outcome add(std::span<const char> content);

  std::size_t most_; // bytes of one message
  std::vector<char> message_;
  std::uint64_t left_ = 0; // of the message
  std::uint64_t taken_ = 0;
};

} // namespace omni::net
