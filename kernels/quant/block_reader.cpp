#include "kernels/quant/block_reader.hpp"

#include "kernels/core/check.hpp"
#include "kernels/core/float16.hpp"

#include <cstring>

namespace omni {
namespace {

std::uint8_t byte_at(const std::byte* p, std::int64_t i) { return static_cast<std::uint8_t>(p[i]); }

float half_at(const std::byte* p) {
  std::uint16_t bits;
  std::memcpy(&bits, p, 2);
  return f16_to_f32(bits);
}

/// Q4_0, Q4_1, Q5_0, Q5_1: nibbles at `quants`, low ones first; `high` holds bit 4 of each value, or is null.
void read_nibbles(const std::byte* quants, const std::byte* high, quant_block& block) {
  std::uint32_t bits = 0;
  if (high != nullptr) std::memcpy(&bits, high, 4);
  for (std::int64_t i = 0; i < 16; ++i) {
    const auto q = byte_at(quants, i);
    block.values[static_cast<std::size_t>(i)] = static_cast<std::uint8_t>((q & 15) | (bits >> i & 1) << 4);
    block.values[static_cast<std::size_t>(i + 16)] = static_cast<std::uint8_t>(q >> 4 | (bits >> (i + 16) & 1) << 4);
  }
}

/// Eighth `part` of a Q4_K or Q5_K super-block; its scale and min are 6 bits each, times the block's own.
void read_k_part(const std::byte* p, bool five_bits, std::int64_t part, quant_block& block) {
  const std::byte* const packed = p + 4;
  const std::byte* const high = p + 16; // Q5_K only
  const std::byte* const quants = p + (five_bits ? 48 : 16) + 32 * (part / 2);
  int scale, min;
  if (part < 4) {
    scale = byte_at(packed, part) & 63;
    min = byte_at(packed, part + 4) & 63;
  } else {
    scale = (byte_at(packed, part + 4) & 15) | byte_at(packed, part - 4) >> 6 << 4;
    min = byte_at(packed, part + 4) >> 4 | byte_at(packed, part) >> 6 << 4;
  }
  block.scale[0] = half_at(p) * static_cast<float>(scale);
  block.min = -(half_at(p + 2) * static_cast<float>(min));
  for (std::int64_t i = 0; i < 32; ++i) {
    const auto q = byte_at(quants, i);
    int value = part % 2 == 0 ? q & 15 : q >> 4;
    if (five_bits) value |= (byte_at(high, i) >> part & 1) << 4;
    block.values[static_cast<std::size_t>(i)] = static_cast<std::uint8_t>(value);
  }
}

/// Eighth `part` of a Q6_K super-block: 4 low bits and 2 high bits apart, a signed scale for each 16 values.
void read_q6_part(const std::byte* p, std::int64_t part, quant_block& block) {
  const std::int64_t half = part / 4, quarter = part % 4; // 128 values, and 32 of them
  const std::byte* const low = p + 64 * half + 32 * (quarter % 2);
  const std::byte* const high = p + 128 + 32 * half;
  const float d = half_at(p + 208);
  for (std::int64_t i = 0; i < 32; ++i) {
    const int nibble = quarter < 2 ? byte_at(low, i) & 15 : byte_at(low, i) >> 4;
    const int top = byte_at(high, i) >> (2 * quarter) & 3;
    block.values[static_cast<std::size_t>(i)] = static_cast<std::uint8_t>(nibble | top << 4);
  }
  for (std::int64_t h = 0; h < 2; ++h)
    block.scale[static_cast<std::size_t>(h)] =
        d * static_cast<float>(static_cast<std::int8_t>(byte_at(p, 192 + 2 * part + h)));
}

} // namespace

quant_block read_quant_block(const std::byte* row, dtype type, std::int64_t index) {
  quant_block block{};
  const std::int64_t per_block = info(type).block_values / 32;
  const std::byte* const p = row + index / per_block * info(type).block_bytes;
  switch (type) {
  case dtype::q4_0:
    read_nibbles(p + 2, nullptr, block);
    break;
  case dtype::q4_1:
    read_nibbles(p + 4, nullptr, block);
    break;
  case dtype::q5_0:
    read_nibbles(p + 6, p + 2, block);
    break;
  case dtype::q5_1:
    read_nibbles(p + 8, p + 4, block);
    break;
  case dtype::q8_0:
    for (std::int64_t i = 0; i < 32; ++i)
      block.values[static_cast<std::size_t>(i)] = static_cast<std::uint8_t>(byte_at(p, 2 + i) ^ 0x80U);
    break;
  case dtype::q4_k:
    read_k_part(p, false, index % per_block, block);
    return block;
  case dtype::q5_k:
    read_k_part(p, true, index % per_block, block);
    return block;
  case dtype::q6_k:
    read_q6_part(p, index % per_block, block);
    return block;
  default:
    OMNI_CHECK(false, "the type has no blocks");
  }
  block.scale[0] = half_at(p);
  if (type == dtype::q4_1 || type == dtype::q5_1) block.min = half_at(p + 2);
  return block;
}

} // namespace omni
