#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace omni {

/// Walks over the fields of one protobuf message: `while (message.next()) switch (message.field()) ...`. A field that
/// nobody asks for is skipped. Throws `load_error` when the bytes are no message, or a field is asked for as what it is
/// not. Encoding: protobuf.dev, "Encoding".
class protobuf_reader {
public:
  /// `where` names the file in messages and must outlive the reader.
  protobuf_reader(std::span<const std::byte> message, const std::string& where) : rest_(message), where_(where) {}

  /// Moves to the next field; false at the end.
  bool next();
  [[nodiscard]] std::uint32_t field() const { return field_; }
  /// A packed field of numbers, or one number of it.
  [[nodiscard]] bool is_bytes() const { return wire_type_ == bytes_type; }

  [[nodiscard]] std::uint64_t varint() const;
  [[nodiscard]] std::int64_t int64() const { return static_cast<std::int64_t>(varint()); }
  [[nodiscard]] float float32() const;
  [[nodiscard]] std::span<const std::byte> bytes() const;
  [[nodiscard]] std::string_view string() const;
  /// The bytes of fixed-size numbers, packed or a single one.
  [[nodiscard]] std::span<const std::byte> raw_numbers() const;
  [[nodiscard]] protobuf_reader message() const { return {bytes(), where_}; }

  /// Calls `take(std::int64_t)` for the numbers of this field, packed or single.
  template <class Take>
  void each_int64(Take take) const {
    if (!is_bytes()) return take(int64());
    for (protobuf_reader packed(bytes(), where_); !packed.rest_.empty();)
      take(static_cast<std::int64_t>(packed.take_varint()));
  }

private:
  static constexpr std::uint32_t varint_type = 0;
  static constexpr std::uint32_t fixed64_type = 1;
  static constexpr std::uint32_t bytes_type = 2;
  static constexpr std::uint32_t fixed32_type = 5;

  std::uint64_t take_varint();
  std::span<const std::byte> take(std::uint64_t count);
  void expect(std::uint32_t wire_type) const;

  std::span<const std::byte> rest_;
  const std::string& where_;
  std::uint32_t field_ = 0;
  std::uint32_t wire_type_ = 0;
  std::uint64_t varint_ = 0;
  std::span<const std::byte> payload_; // of a field that is not a varint
};

} // namespace omni
