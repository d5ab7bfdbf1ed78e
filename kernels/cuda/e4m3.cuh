// Converts packs of E4M3 numbers, two numbers at a time, with the GPU's own instructions if it has
// them. With the functions of kernels/fp8.h, instructions and not memory would limit a kernel's
// speed. The bits are the same, except for the sign of NaN, which is already lost when a number is
// multiplied by the scale.
#pragma once

#include "kernels/cuda/launch.cuh"

namespace meshwright::kernels::cuda {

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 890
#define MESHWRIGHT_DEVICE_HAS_E4M3
#endif

__device__ inline void ToE4m3Pair(float one, float other, uint8_t* codes) {
#if defined(MESHWRIGHT_DEVICE_HAS_E4M3)
  uint16_t pair;
  asm("cvt.rn.satfinite.e4m3x2.f32 %0, %1, %2;" : "=h"(pair) : "f"(other), "f"(one));
  codes[0] = static_cast<uint8_t>(pair);
  codes[1] = static_cast<uint8_t>(pair >> 8);
#else
  codes[0] = ToE4m3(one);
  codes[1] = ToE4m3(other);
#endif
}
__device__ inline void ToE4m3Pair(double one, double other, uint8_t* codes) {
  codes[0] = ToE4m3(one);
  codes[1] = ToE4m3(other);
}

__device__ inline void FromE4m3Pair(const uint8_t* codes, float& one, float& other) {
#if defined(MESHWRIGHT_DEVICE_HAS_E4M3)
  const auto pair = static_cast<uint16_t>(codes[0] | codes[1] << 8);
  // Through fp16, which represents all of them.
  asm("{\n"
      ".reg .b32 halves;\n"
      ".reg .b16 low, high;\n"
      "cvt.rn.f16x2.e4m3x2 halves, %2;\n"
      "mov.b32 {low, high}, halves;\n"
      "cvt.f32.f16 %0, low;\n"
      "cvt.f32.f16 %1, high;\n"
      "}"
      : "=f"(one), "=f"(other)
      : "h"(pair));
#else
  one = FromE4m3(codes[0]);
  other = FromE4m3(codes[1]);
#endif
}

template <typename A, int kPack>
__device__ Pack<uint8_t, kPack> PackToE4m3(const A (&values)[kPack]) {
  Pack<uint8_t, kPack> codes;
  if constexpr (kPack == 1) {
    codes.values[0] = ToE4m3(values[0]);
  } else {
    for (int k = 0; k < kPack; k += 2) ToE4m3Pair(values[k], values[k + 1], codes.values + k);
  }
  return codes;
}

template <int kPack>
__device__ void PackFromE4m3(const Pack<uint8_t, kPack>& codes, float (&values)[kPack]) {
  if constexpr (kPack == 1) {
    values[0] = FromE4m3(codes.values[0]);
  } else {
    for (int k = 0; k < kPack; k += 2) {
      FromE4m3Pair(codes.values + k, values[k], values[k + 1]);
    }
  }
}

}  // namespace meshwright::kernels::cuda
