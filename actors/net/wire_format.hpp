#pragma once

#include "messages/inspect_report.hpp"

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

// How messages become bytes between processes, and bytes messages again: through the same `inspect` functions that the
// actor system uses. Numbers are little-endian, lists and texts begin with their count (u32). A reader believes
// nothing: every count is held against the bytes that are left, every constant of an enum against the last one.

namespace omni::net {

using bytes = std::vector<char>;
static_assert(std::endian::native == std::endian::little, "the wire is little-endian, as all machines it runs on");

/// The last constant of an enum that travels.
template <class Enum>
inline constexpr Enum last_of = Enum::not_for_the_wire;
template <>
inline constexpr errc last_of<errc> = errc::internal;
template <>
inline constexpr finish_reason last_of<finish_reason> = finish_reason::error;
template <>
inline constexpr modality last_of<modality> = modality::audio;
template <>
inline constexpr dtype last_of<dtype> = dtype::q6_k;
template <>
inline constexpr payload::kind last_of<payload::kind> = payload::kind::samples;

template <class T>
concept plain_number = std::is_arithmetic_v<T> && !std::is_same_v<T, bool>;

/// Appends values to bytes.
class wire_writer {
public:
  using result_type = bool;
  explicit wire_writer(bytes& to) : to_(to) {}

  template <class... Ts>
  bool operator()(Ts&&... values) {
    (put(values), ...);
    return true;
  }
  void raw(const void* from, std::size_t count);

private:
  template <class T>
  void put(T& value) {
    using plain = std::remove_const_t<T>;
    if constexpr (std::is_same_v<plain, bool> || std::is_enum_v<plain>) {
      const auto number = std::uint8_t(value);
      raw(&number, 1);
    } else if constexpr (plain_number<plain>) {
      raw(&value, sizeof(plain));
    } else {
      inspect(*this, value);
    }
  }
  template <class F>
  void put(caf::meta::load_callback_t<F>&) {}
  void put(std::string& text) {
    put_count(text.size());
    raw(text.data(), text.size());
  }
  template <class T>
  void put(std::vector<T>& list) {
    put_count(list.size());
    if constexpr (plain_number<T>) {
      raw(list.data(), list.size() * sizeof(T));
    } else {
      for (auto& one : list) put(one);
    }
  }
  template <class T, std::size_t Count>
  void put(std::array<T, Count>& list) {
    for (auto& one : list) put(one);
  }
  template <class A, class B>
  void put(std::pair<A, B>& both) {
    put(both.first);
    put(both.second);
  }
  void put_count(std::size_t count) {
    auto number = std::uint32_t(count);
    put(number);
  }

  bytes& to_;
};

/// Takes values from bytes. After the first thing that cannot be, everything reads as zero and `good` is false.
class wire_reader {
public:
  using result_type = bool;
  explicit wire_reader(std::span<const char> from) : left_(from) {}

  [[nodiscard]] bool good() const { return good_; }
  [[nodiscard]] std::span<const char> left() const { return left_; }

  template <class... Ts>
  bool operator()(Ts&&... values) {
    (get(values), ...);
    return good_;
  }
  /// The bytes are not a message.
  void refuse() {
    good_ = false;
    left_ = {};
  }

private:
  bool raw(void* to, std::size_t count) {
    if (count > left_.size()) {
      refuse();
      return false;
    }
    if (count > 0) std::memcpy(to, left_.data(), count);
    left_ = left_.subspan(count);
    return true;
  }
  template <class T>
  void get(T& value) {
    if constexpr (std::is_same_v<T, bool>) {
      std::uint8_t number = 0;
      raw(&number, 1);
      if (number > 1) refuse();
      value = number == 1;
    } else if constexpr (std::is_enum_v<T>) {
      std::uint8_t number = 0;
      raw(&number, 1);
      if (number > std::uint8_t(last_of<T>)) {
        refuse();
        number = 0;
      }
      value = T(number);
    } else if constexpr (plain_number<T>) {
      if (!raw(&value, sizeof(T))) value = 0;
    } else {
      inspect(*this, value);
    }
  }
  template <class F>
  void get(caf::meta::load_callback_t<F>& then) {
    then.fun();
  }
  void get(std::string& text) {
    text.resize(count(1));
    raw(text.data(), text.size());
  }
  template <class T>
  void get(std::vector<T>& list) {
    list.clear();
    if constexpr (plain_number<T>) {
      list.resize(count(sizeof(T)));
      raw(list.data(), list.size() * sizeof(T));
    } else {
      for (auto number = count(1); number > 0 && good_; --number) get(list.emplace_back());
    }
  }
  template <class T, std::size_t Count>
  void get(std::array<T, Count>& list) {
    for (auto& one : list) get(one);
  }
  template <class A, class B>
  void get(std::pair<A, B>& both) {
    get(both.first);
    get(both.second);
  }
  /// The count of what follows, each of which takes `least` bytes or more; 0 if so many cannot follow.
  std::size_t count(std::size_t least) {
    std::uint32_t number = 0;
    raw(&number, sizeof number);
    if (number > left_.size() / least) {
      refuse();
      return 0;
    }
    return number;
  }

  std::span<const char> left_;
  bool good_ = true;
};

/// Buckets must fit their list, or they could not be merged.
inline bool inspect(wire_reader& from, observations& x) {
  from(x.counts, x.sum);
  const bool fits = x.counts.empty() || x.counts.size() == bucket_bounds(x.list).size() + 1;
  for (const auto count : x.counts)
    if (count < 0) from.refuse();
  if (!fits) from.refuse();
  return from.good();
}

/// Reads the whole of `from` as one message; nothing if it is not exactly that.
template <class T>
std::optional<T> decode(std::span<const char> from) {
  T value{};
  wire_reader reader(from);
  reader(value);
  if (!reader.good() || !reader.left().empty()) return std::nullopt;
  return value;
}

} // namespace omni::net
