// Sixteen lanes, whatever the vector width of the target: one lane is an output row, a token or a head dimension in all
// kernels. Compiled once per instruction set, so it is included after Highway's foreach_target.
#if defined(OMNI_KERNELS_CPU_SIMD_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef OMNI_KERNELS_CPU_SIMD_INL
#undef OMNI_KERNELS_CPU_SIMD_INL
#else
#define OMNI_KERNELS_CPU_SIMD_INL
#endif

#include "kernels/core/float16.hpp"

#include <cstdint>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace omni::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

constexpr int lanes16 = 16;
using tag_f32 = hn::CappedTag<float, lanes16>;
using tag_i32 = hn::CappedTag<std::int32_t, lanes16>;
constexpr int part_lanes = static_cast<int>(hn::MaxLanes(tag_f32())); // floats in one vector register
constexpr int parts = lanes16 / part_lanes;                           // registers that make up 16 lanes

/// Rows of a register tile: as many as the accumulators leave room for.
constexpr int most_tile_rows = parts == 1 ? 8 : 4;

struct f32x16 {
  hn::Vec<tag_f32> part[parts];
};

#define OMNI_EACH_PART for (int i_ = 0; i_ < parts; ++i_)

HWY_INLINE f32x16 splat(float x) {
  f32x16 r;
  OMNI_EACH_PART r.part[i_] = hn::Set(tag_f32(), x);
  return r;
}
HWY_INLINE f32x16 load16(const float* HWY_RESTRICT p) {
  f32x16 r;
  OMNI_EACH_PART r.part[i_] = hn::LoadU(tag_f32(), p + i_ * part_lanes);
  return r;
}
/// 16 IEEE halves.
HWY_INLINE f32x16 load16(const hwy::float16_t* HWY_RESTRICT p) {
  f32x16 r;
  const hn::Rebind<hwy::float16_t, tag_f32> half;
  OMNI_EACH_PART r.part[i_] = hn::PromoteTo(tag_f32(), hn::LoadU(half, p + i_ * part_lanes));
  return r;
}
/// 16 bfloat16.
HWY_INLINE f32x16 load16(const hwy::bfloat16_t* HWY_RESTRICT p) {
  f32x16 r;
  const hn::Rebind<hwy::bfloat16_t, tag_f32> half;
  OMNI_EACH_PART r.part[i_] = hn::PromoteTo(tag_f32(), hn::LoadU(half, p + i_ * part_lanes));
  return r;
}
HWY_INLINE void store16(const f32x16& x, float* HWY_RESTRICT p) {
  OMNI_EACH_PART hn::StoreU(x.part[i_], tag_f32(), p + i_ * part_lanes);
}
/// Rounds to nearest half, ties to even; the caller keeps values within the range of a half.
HWY_INLINE void store16(const f32x16& x, hwy::float16_t* HWY_RESTRICT p) {
#if HWY_TARGET == HWY_SCALAR || HWY_TARGET == HWY_EMU128 // Highway's own conversion cuts there
  float lane[lanes16];
  store16(x, lane);
  for (int i = 0; i < lanes16; ++i) p[i].bits = f32_to_f16(lane[i]);
#else
  const hn::Rebind<hwy::float16_t, tag_f32> half;
  OMNI_EACH_PART hn::StoreU(hn::DemoteTo(half, x.part[i_]), half, p + i_ * part_lanes);
#endif
}
HWY_INLINE f32x16 operator+(const f32x16& a, const f32x16& b) {
  f32x16 r;
  OMNI_EACH_PART r.part[i_] = hn::Add(a.part[i_], b.part[i_]);
  return r;
}
HWY_INLINE f32x16 operator-(const f32x16& a, const f32x16& b) {
  f32x16 r;
  OMNI_EACH_PART r.part[i_] = hn::Sub(a.part[i_], b.part[i_]);
  return r;
}
HWY_INLINE f32x16 operator*(const f32x16& a, const f32x16& b) {
  f32x16 r;
  OMNI_EACH_PART r.part[i_] = hn::Mul(a.part[i_], b.part[i_]);
  return r;
}
HWY_INLINE f32x16 operator/(const f32x16& a, const f32x16& b) {
  f32x16 r;
  OMNI_EACH_PART r.part[i_] = hn::Div(a.part[i_], b.part[i_]);
  return r;
}
/// a * b + c, one rounding where the target has a fused instruction.
HWY_INLINE f32x16 fma(const f32x16& a, const f32x16& b, const f32x16& c) {
  f32x16 r;
  OMNI_EACH_PART r.part[i_] = hn::MulAdd(a.part[i_], b.part[i_], c.part[i_]);
  return r;
}
HWY_INLINE f32x16 max(const f32x16& a, const f32x16& b) {
  f32x16 r;
  OMNI_EACH_PART r.part[i_] = hn::Max(a.part[i_], b.part[i_]);
  return r;
}
HWY_INLINE f32x16 min(const f32x16& a, const f32x16& b) {
  f32x16 r;
  OMNI_EACH_PART r.part[i_] = hn::Min(a.part[i_], b.part[i_]);
  return r;
}
HWY_INLINE f32x16 abs(const f32x16& a) {
  f32x16 r;
  OMNI_EACH_PART r.part[i_] = hn::Abs(a.part[i_]);
  return r;
}
/// Sum of the lanes, in one fixed order.
HWY_INLINE float sum(const f32x16& a) {
  auto s = a.part[0];
  for (int i = 1; i < parts; ++i) s = hn::Add(s, a.part[i]);
  return hn::GetLane(hn::SumOfLanes(tag_f32(), s));
}
HWY_INLINE float max_lane(const f32x16& a) {
  auto m = a.part[0];
  for (int i = 1; i < parts; ++i) m = hn::Max(m, a.part[i]);
  return hn::GetLane(hn::MaxOfLanes(tag_f32(), m));
}

/// e^x to 2 units in the last place; 0 below -87.3, which includes minus infinity; e^88 above 88.
/// Cephes' reduction (x = n ln 2 + r) with a polynomial for e^r.
HWY_INLINE f32x16 exp(const f32x16& x) {
  const tag_f32 d;
  const tag_i32 di;
  f32x16 r;
  OMNI_EACH_PART {
    const auto v = hn::Min(x.part[i_], hn::Set(d, 88.0F));
    // Added to 1.5 * 2^23, n is rounded and stands in the lowest bits.
    const auto shifter = hn::Set(d, 12582912.0F);
    const auto shifted = hn::MulAdd(v, hn::Set(d, 1.44269504F), shifter);
    const auto n = hn::Sub(shifted, shifter);
    auto t = hn::NegMulAdd(n, hn::Set(d, 0.693359375F), v);
    t = hn::NegMulAdd(n, hn::Set(d, -2.12194440e-4F), t);
    auto p = hn::Set(d, 1.9875691500e-4F);
    p = hn::MulAdd(p, t, hn::Set(d, 1.3981999507e-3F));
    p = hn::MulAdd(p, t, hn::Set(d, 8.3334519073e-3F));
    p = hn::MulAdd(p, t, hn::Set(d, 4.1665795894e-2F));
    p = hn::MulAdd(p, t, hn::Set(d, 1.6666665459e-1F));
    p = hn::MulAdd(p, t, hn::Set(d, 5.0000001201e-1F));
    p = hn::Add(hn::MulAdd(p, hn::Mul(t, t), t), hn::Set(d, 1.0F));
    // Times 2^n: n is added to the exponent.
    const auto exponent = hn::ShiftLeft<23>(hn::BitCast(di, shifted));
    const auto value = hn::BitCast(d, hn::Add(hn::BitCast(di, p), exponent));
    r.part[i_] = hn::IfThenElseZero(hn::Ge(v, hn::Set(d, -87.33654F)), value);
  }
  return r;
}

/// x / (1 + e^-x)
HWY_INLINE f32x16 silu(const f32x16& x) { return x / (splat(1.0F) + exp(splat(0.0F) - x)); }

} // namespace omni::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
