// Integer dot products of unsigned weights and signed bytes, four neighbours of a row per lane and step.
#if defined(OMNI_KERNELS_CPU_DOT8_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef OMNI_KERNELS_CPU_DOT8_INL
#undef OMNI_KERNELS_CPU_DOT8_INL
#else
#define OMNI_KERNELS_CPU_DOT8_INL
#endif

#include "kernels/cpu/simd-inl.hpp"

#include <cmath>
#include <cstddef>
#include <cstring>

HWY_BEFORE_NAMESPACE();
namespace omni::HWY_NAMESPACE {

struct i32x16 {
  hn::Vec<tag_i32> part[parts];
};

HWY_INLINE f32x16 to_f32(const i32x16& a) {
  f32x16 r;
  OMNI_EACH_PART r.part[i_] = hn::ConvertTo(tag_f32(), a.part[i_]);
  return r;
}

/// Rounds 16 values x * factor of [-127, 127] to the nearest byte, ties to even, and returns their sum.
HWY_INLINE std::int32_t to_bytes(const f32x16& x, const f32x16& factor, std::int8_t* HWY_RESTRICT out) {
#if HWY_TARGET == HWY_SCALAR
  float lane[lanes16];
  store16(x * factor, lane);
  std::int32_t total = 0;
  for (int i = 0; i < lanes16; ++i) total += out[i] = static_cast<std::int8_t>(std::nearbyint(lane[i]));
  return total;
#else
  const hn::Rebind<std::int8_t, tag_i32> d8;
  // Added to 1.5 * 2^23, the rounded value stands in the lowest bits. (Highway 1.0 has a TruncateTo that would take the
  // lowest byte right away, but for AVX3_DL it takes others.)
  const auto shifter = hn::Set(tag_f32(), 12582912.0F);
  OMNI_EACH_PART {
    const auto shifted = hn::MulAdd(x.part[i_], factor.part[i_], shifter);
    const auto whole = hn::Sub(hn::BitCast(tag_i32(), shifted), hn::BitCast(tag_i32(), shifter));
    hn::StoreU(hn::DemoteTo(d8, whole), d8, out + i_ * part_lanes);
  }
  const hn::FixedTag<std::uint8_t, lanes16> all;
  const auto biased = hn::Xor(hn::LoadU(all, reinterpret_cast<const std::uint8_t*>(out)), hn::Set(all, 0x80));
  const auto halves = hn::SumsOf8(biased);
  const hn::FixedTag<std::uint64_t, 2> d64;
  return static_cast<std::int32_t>(hn::GetLane(hn::SumOfLanes(d64, halves))) - 128 * lanes16;
#endif
}

/// Asks for `Bytes` bytes at `p`. A tile of few rows streams its weights and wants them in the first-level cache; with
/// more rows the next chunk has the time of this one to come as far as the second level.
template <int Bytes, bool Streamed>
HWY_INLINE void prefetch(const std::byte* p) {
  for (int i = 0; i < Bytes; i += 64) __builtin_prefetch(p + i, 0, Streamed ? 3 : 2);
}

// dot_words<FourBits, R, Words>(quants, x, dot): dot[m] = sum over `Words` words of (q - dot_offset<FourBits>) times
// the bytes of row m.
//   quants: [words][16 rows][4 bytes]; FourBits packs word w (low nibbles) and w + 4 (high nibbles) into one
//   x:      [words][R][4 bytes]
#if HWY_TARGET == HWY_AVX3_DL

template <bool FourBits>
constexpr int dot_offset = 0;

/// Adds to each lane of `sum` the four products of its unsigned bytes in `q` with the signed bytes at `word`.
/// In assembly, since Highway 1.0 compiles this target without the AVX512_VNNI that it asks of the machine.
HWY_INLINE void add_dot(__m512i& sum, __m512i q, const std::byte* word) {
  asm("vpdpbusd %2%{1to16%}, %1, %0" : "+v"(sum) : "v"(q), "m"(*reinterpret_cast<const std::byte(*)[4]>(word)));
}

template <bool FourBits, int R, int Words>
HWY_INLINE void dot_words(const std::byte* HWY_RESTRICT quants, const std::byte* HWY_RESTRICT x, i32x16* dot) {
  __m512i sum[R];
  for (int m = 0; m < R; ++m) sum[m] = _mm512_setzero_si512();
  if constexpr (FourBits) {
    static_assert(Words == 8, "4-bit weights have one scale per block");
    const __m512i nibble = _mm512_set1_epi8(15);
    for (int w = 0; w < 4; ++w) {
      const __m512i both = _mm512_loadu_si512(quants + 64 * w);
      const __m512i low = _mm512_and_si512(both, nibble);
      const __m512i high = _mm512_and_si512(_mm512_srli_epi16(both, 4), nibble);
      for (int m = 0; m < R; ++m) add_dot(sum[m], low, x + (w * R + m) * 4);
      for (int m = 0; m < R; ++m) add_dot(sum[m], high, x + ((w + 4) * R + m) * 4);
    }
  } else {
    for (int w = 0; w < Words; ++w) {
      const __m512i q = _mm512_loadu_si512(quants + 64 * w);
      for (int m = 0; m < R; ++m) add_dot(sum[m], q, x + (w * R + m) * 4);
    }
  }
  for (int m = 0; m < R; ++m) dot[m].part[0].raw = sum[m];
}

#elif HWY_TARGET <= HWY_AVX2

template <bool FourBits>
constexpr int dot_offset = FourBits ? 0 : 128;

HWY_INLINE __m256i broadcast_word(const std::byte* p) {
  std::int32_t word;
  std::memcpy(&word, p, 4);
  return _mm256_set1_epi32(word);
}

/// Puts two halves of 8 rows into the 16 lanes.
template <class Lanes>
HWY_INLINE void set_half(Lanes& r, int half, __m256i v) {
  if constexpr (parts == 2)
    r.part[half].raw = v;
  else
    r.part[0].raw = half == 0 ? _mm512_castsi256_si512(v) : _mm512_inserti64x4(r.part[0].raw, v, 1);
}

template <bool FourBits, int R, int Words>
HWY_INLINE void dot_words(const std::byte* HWY_RESTRICT quants, const std::byte* HWY_RESTRICT x, i32x16* dot) {
  const __m256i ones = _mm256_set1_epi16(1);
  for (int half = 0; half < 2; ++half) {
    __m256i sum[R];
    for (int m = 0; m < R; ++m) sum[m] = _mm256_setzero_si256();
    if constexpr (FourBits) {
      // Eight pair sums of at most 2 * 15 * 127 fit 16 bits.
      const __m256i nibble = _mm256_set1_epi8(15);
      for (int w = 0; w < 4; ++w) {
        const __m256i both = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(quants + 64 * w + 32 * half));
        const __m256i low = _mm256_and_si256(both, nibble);
        const __m256i high = _mm256_and_si256(_mm256_srli_epi16(both, 4), nibble);
        for (int m = 0; m < R; ++m) {
          sum[m] = _mm256_add_epi16(sum[m], _mm256_maddubs_epi16(low, broadcast_word(x + (w * R + m) * 4)));
          sum[m] = _mm256_add_epi16(sum[m], _mm256_maddubs_epi16(high, broadcast_word(x + ((w + 4) * R + m) * 4)));
        }
      }
      for (int m = 0; m < R; ++m) set_half(dot[m], half, _mm256_madd_epi16(sum[m], ones));
    } else {
      // Pair sums of unsigned 8-bit weights would overflow 16 bits; those of |q - 128| <= 128 and bytes that have taken
      // over the sign fit.
      for (int w = 0; w < Words; ++w) {
        const __m256i q = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(quants + 64 * w + 32 * half));
        const __m256i centred = _mm256_xor_si256(q, _mm256_set1_epi8(-128));
        const __m256i magnitude = _mm256_abs_epi8(centred);
        for (int m = 0; m < R; ++m) {
          const __m256i bytes = broadcast_word(x + (w * R + m) * 4);
          const __m256i pairs = _mm256_maddubs_epi16(magnitude, _mm256_sign_epi8(bytes, centred));
          sum[m] = _mm256_add_epi32(sum[m], _mm256_madd_epi16(pairs, ones));
        }
      }
      for (int m = 0; m < R; ++m) set_half(dot[m], half, sum[m]);
    }
  }
}

#else

template <bool FourBits>
constexpr int dot_offset = 0;

template <bool FourBits, int R, int Words>
HWY_INLINE void dot_words(const std::byte* HWY_RESTRICT quants, const std::byte* HWY_RESTRICT x, i32x16* dot) {
  for (int m = 0; m < R; ++m) {
    std::int32_t sum[lanes16] = {};
    for (int w = 0; w < Words; ++w) {
      const auto* const bytes = reinterpret_cast<const std::int8_t*>(x + (w * R + m) * 4);
      const auto* const q = reinterpret_cast<const std::uint8_t*>(quants + 64 * (FourBits ? w % 4 : w));
      for (int lane = 0; lane < lanes16; ++lane)
        for (int i = 0; i < 4; ++i) {
          const int value = !FourBits ? q[4 * lane + i] : w < 4 ? q[4 * lane + i] & 15 : q[4 * lane + i] >> 4;
          sum[lane] += value * bytes[i];
        }
    }
    OMNI_EACH_PART dot[m].part[i_] = hn::LoadU(tag_i32(), sum + i_ * part_lanes);
  }
}

#endif

} // namespace omni::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
