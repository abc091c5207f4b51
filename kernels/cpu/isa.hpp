// The one place that says for which instruction sets the CPU kernels are compiled; the best one that the machine has is
// taken at run time. No include guard of its own logic: it only sets what Highway reads.
//
//   AVX3_DL  AVX-512 with VNNI (Ice Lake, Zen 4 and later): 8-bit dot products
//   AVX3     AVX-512 without VNNI
//   AVX2     with FMA and F16C
//   SCALAR   everything else
#ifndef OMNI_KERNELS_CPU_ISA_HPP
#define OMNI_KERNELS_CPU_ISA_HPP

#define HWY_WANT_AVX3_DL
#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_SSE4)

#endif
