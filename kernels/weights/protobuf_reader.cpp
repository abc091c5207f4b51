#include "kernels/weights/protobuf_reader.hpp"

#include "kernels/weights/reject.hpp"

#include <cstring>

namespace omni {

bool protobuf_reader::next() {
  if (rest_.empty()) return false;
  const auto tag = take_varint();
  field_ = static_cast<std::uint32_t>(tag >> 3);
  wire_type_ = static_cast<std::uint32_t>(tag & 7U);
  if (tag > UINT32_MAX || field_ == 0)
    reject_damaged(where_, "expected the number of a protobuf field, found " + std::to_string(tag));
  switch (wire_type_) {
  case varint_type:
    varint_ = take_varint();
    return true;
  case fixed64_type:
    payload_ = take(8);
    return true;
  case bytes_type:
    payload_ = take(take_varint());
    return true;
  case fixed32_type:
    payload_ = take(4);
    return true;
  default:
    reject_damaged(where_, "expected a protobuf field of wire type 0, 1, 2 or 5, found " + std::to_string(wire_type_));
  }
}

std::uint64_t protobuf_reader::take_varint() {
  std::uint64_t value = 0;
  for (unsigned shift = 0; shift < 70; shift += 7) {
    const auto next = std::to_integer<std::uint64_t>(take(1)[0]);
    if (shift == 63 && next > 1) break;
    value |= (next & 0x7fU) << shift;
    if (next < 0x80U) return value;
  }
  reject_damaged(where_, "expected a protobuf number of at most 64 bits, found a longer one");
}

std::span<const std::byte> protobuf_reader::take(std::uint64_t count) {
  if (count > rest_.size())
    reject_damaged(where_, "a protobuf field of " + std::to_string(count) + " bytes begins where only " +
                               std::to_string(rest_.size()) + " bytes are left");
  const auto taken = rest_.first(count);
  rest_ = rest_.subspan(count);
  return taken;
}

void protobuf_reader::expect(std::uint32_t wire_type) const {
  if (wire_type_ != wire_type)
    reject_damaged(where_, "expected protobuf field " + std::to_string(field_) + " to have wire type " +
                               std::to_string(wire_type) + ", found " + std::to_string(wire_type_));
}

std::uint64_t protobuf_reader::varint() const {
  expect(varint_type);
  return varint_;
}

float protobuf_reader::float32() const {
  expect(fixed32_type);
  float value = 0;
  std::memcpy(&value, payload_.data(), sizeof value);
  return value;
}

std::span<const std::byte> protobuf_reader::bytes() const {
  expect(bytes_type);
  return payload_;
}

std::span<const std::byte> protobuf_reader::raw_numbers() const {
  if (wire_type_ == varint_type) expect(bytes_type);
  return payload_;
}

std::string_view protobuf_reader::string() const {
  const auto text = bytes();
  return {reinterpret_cast<const char*>(text.data()), text.size()};
}

} // namespace omni
