#include "kernels/weights/convert.hpp"

#include "kernels/core/float16.hpp"

#include <cstring>

namespace omni {
namespace {

/// A number at an address of any alignment.
template <class T>
T load(const std::byte* at) {
  T value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

float load_half(const std::byte* at) { return f16_to_f32(load<std::uint16_t>(at)); }
int load_byte(const std::byte* at) { return std::to_integer<int>(*at); }

template <class T>
void convert_plain(const std::byte* from, std::int64_t count, float* to) {
  for (std::int64_t i = 0; i < count; ++i) to[i] = static_cast<float>(load<T>(from + i * std::int64_t{sizeof(T)}));
}

/// Q4_0, Q4_1, Q5_0, Q5_1: 32 values of `Bits` bits, low nibbles first; value = d * (q - Offset) + m.
template <int Bits, int Offset, bool HasMinimum>
void dequantise_32(const std::byte* block, float* to) {
  const float scale = load_half(block);
  const float minimum = HasMinimum ? load_half(block + 2) : 0.0F;
  const std::byte* rest = block + (HasMinimum ? 4 : 2);
  std::uint32_t fifth_bits = 0;
  if constexpr (Bits == 5) {
    fifth_bits = load<std::uint32_t>(rest);
    rest += 4;
  }
  for (int i = 0; i < 16; ++i) {
    const int low = (load_byte(rest + i) & 15) | static_cast<int>((fifth_bits >> i & 1U) << 4);
    const int high = load_byte(rest + i) >> 4 | static_cast<int>((fifth_bits >> (i + 16) & 1U) << 4);
    to[i] = scale * static_cast<float>(low - Offset) + minimum;
    to[i + 16] = scale * static_cast<float>(high - Offset) + minimum;
  }
}

void dequantise_q8_0(const std::byte* block, float* to) {
  const float scale = load_half(block);
  for (int i = 0; i < 32; ++i) to[i] = scale * static_cast<float>(load<std::int8_t>(block + 2 + i));
}

/// The j-th of the eight pairs of 6-bit scale and minimum that Q4_K and Q5_K pack into 12 bytes.
struct scale_and_minimum {
  int scale;
  int minimum;
};
scale_and_minimum unpack_6_bits(const std::byte* packed, int j) {
  if (j < 4) return {load_byte(packed + j) & 63, load_byte(packed + j + 4) & 63};
  const int low = load_byte(packed + j + 4);
  return {(low & 15) | (load_byte(packed + j - 4) >> 6 << 4), low >> 4 | (load_byte(packed + j) >> 6 << 4)};
}

/// Q4_K, Q5_K: eight groups of 32 values; value = d * scale * q - dmin * minimum.
template <int Bits>
void dequantise_45_k(const std::byte* block, float* to) {
  const float scale = load_half(block);
  const float minimum = load_half(block + 2);
  const std::byte* packed = block + 4;
  const std::byte* fifth_bits = block + 16;
  const std::byte* nibbles = block + (Bits == 5 ? 48 : 16);
  for (int group = 0; group < 8; ++group) {
    const auto pair = unpack_6_bits(packed, group);
    const float d = scale * static_cast<float>(pair.scale);
    const float m = minimum * static_cast<float>(pair.minimum);
    for (int i = 0; i < 32; ++i) {
      int q = load_byte(nibbles + group / 2 * 32 + i) >> (group % 2 * 4) & 15;
      if constexpr (Bits == 5) q |= (load_byte(fifth_bits + i) >> group & 1) << 4;
      to[group * 32 + i] = d * static_cast<float>(q) - m;
    }
  }
}

/// Q6_K: sixteen groups of 16 values; value = d * scale * (q - 32).
void dequantise_q6_k(const std::byte* block, float* to) {
  const float scale = load_half(block + 208);
  for (int half = 0; half < 2; ++half) {
    const std::byte* low = block + half * 64;
    const std::byte* high = block + 128 + half * 32;
    const std::byte* scales = block + 192 + half * 8;
    for (int quarter = 0; quarter < 4; ++quarter) {
      for (int i = 0; i < 32; ++i) {
        const int nibble = load_byte(low + quarter % 2 * 32 + i) >> (quarter / 2 * 4) & 15;
        const int q = nibble | (load_byte(high + i) >> (quarter * 2) & 3) << 4;
        const float d = scale * static_cast<float>(load<std::int8_t>(scales + quarter * 2 + i / 16));
        to[half * 128 + quarter * 32 + i] = d * static_cast<float>(q - 32);
      }
    }
  }
}

template <class Dequantise>
void convert_blocks(dtype type, const std::byte* from, std::int64_t count, float* to, Dequantise dequantise) {
  const auto layout = info(type);
  for (std::int64_t i = 0; i < count / layout.block_values; ++i)
    dequantise(from + i * layout.block_bytes, to + i * layout.block_values);
}

void convert(dtype type, const std::byte* from, std::int64_t count, float* to) {
  switch (type) {
  case dtype::f32:
    return convert_plain<float>(from, count, to);
  case dtype::f64:
    return convert_plain<double>(from, count, to);
  case dtype::i64:
    return convert_plain<std::int64_t>(from, count, to);
  case dtype::i32:
    return convert_plain<std::int32_t>(from, count, to);
  case dtype::i16:
    return convert_plain<std::int16_t>(from, count, to);
  case dtype::i8:
    return convert_plain<std::int8_t>(from, count, to);
  case dtype::u8:
  case dtype::boolean:
    return convert_plain<std::uint8_t>(from, count, to);
  case dtype::f16:
    for (std::int64_t i = 0; i < count; ++i) to[i] = load_half(from + 2 * i);
    return;
  case dtype::bf16:
    for (std::int64_t i = 0; i < count; ++i) to[i] = bf16_to_f32(load<std::uint16_t>(from + 2 * i));
    return;
  case dtype::q4_0:
    return convert_blocks(type, from, count, to, dequantise_32<4, 8, false>);
  case dtype::q4_1:
    return convert_blocks(type, from, count, to, dequantise_32<4, 0, true>);
  case dtype::q5_0:
    return convert_blocks(type, from, count, to, dequantise_32<5, 16, false>);
  case dtype::q5_1:
    return convert_blocks(type, from, count, to, dequantise_32<5, 0, true>);
  case dtype::q8_0:
    return convert_blocks(type, from, count, to, dequantise_q8_0);
  case dtype::q4_k:
    return convert_blocks(type, from, count, to, dequantise_45_k<4>);
  case dtype::q5_k:
    return convert_blocks(type, from, count, to, dequantise_45_k<5>);
  case dtype::q6_k:
    return convert_blocks(type, from, count, to, dequantise_q6_k);
  }
}

} // namespace

void read_f32(const tensor& from, std::span<float> to) { read_rows_f32(from, 0, from.rows(), to); }

void read_rows_f32(const tensor& from, std::int64_t first_row, std::int64_t rows, std::span<float> to) {
  OMNI_CHECK(first_row >= 0 && rows >= 0 && rows <= from.rows() - first_row, "rows outside of the tensor");
  const std::int64_t count = rows * from.columns();
  OMNI_CHECK(static_cast<std::int64_t>(to.size()) == count, "the destination must hold exactly the rows read");
  const auto* begin = static_cast<const std::byte*>(from.data) + first_row * row_bytes(from.type, from.columns());
  convert(from.type, begin, count, to.data());
}

void unpermute_rows(const tensor& from, std::int64_t head_dim, std::span<std::byte> to) {
  OMNI_CHECK(head_dim > 0 && head_dim % 2 == 0 && from.rows() % head_dim == 0, "rows must be whole heads of even size");
  OMNI_CHECK(static_cast<std::int64_t>(to.size()) == from.bytes(), "the destination must hold exactly the tensor");
  const auto* source = static_cast<const std::byte*>(from.data);
  const std::int64_t width = row_bytes(from.type, from.columns());
  const std::int64_t half = head_dim / 2;
  for (std::int64_t row = 0; row < from.rows(); ++row) {
    const std::int64_t in_head = row % head_dim;
    const std::int64_t permuted = row - in_head + in_head % half * 2 + in_head / half;
    std::memcpy(to.data() + row * width, source + permuted * width, static_cast<std::size_t>(width));
  }
}

} // namespace omni
