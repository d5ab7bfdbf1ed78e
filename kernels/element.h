// Defines the element types of the operators: fp32, fp64 and bf16. A bf16 number is stored as its
// 16 bits.
#pragma once

#include <cstdint>
#include <cstring>

#if defined(__CUDACC__)
#include <cuda_bf16.h>

#define MESHWRIGHT_HOST_DEVICE __host__ __device__
#else
#define MESHWRIGHT_HOST_DEVICE
#endif

namespace meshwright::kernels {

enum class ElementType : uint8_t { kFp32, kBf16, kFp64 };

struct Bf16 {
  uint16_t bits;
};

// The type in which operators on elements of T compute. Statistics, gradients of weights and
// optimizer states have this type too.
template <typename T>
struct AccumulatorOf {
  using Type = float;
};
template <>
struct AccumulatorOf<double> {
  using Type = double;
};
template <typename T>
using Accumulator = typename AccumulatorOf<T>::Type;

// The functions below are static, so that each file that includes this header has its own copies.
// These files are compiled for several instruction sets. If a function were only inline, the linker
// would keep one copy of it, which could need instructions that the machine lacks.

[[maybe_unused]] MESHWRIGHT_HOST_DEVICE static inline float Widen(float value) { return value; }

[[maybe_unused]] MESHWRIGHT_HOST_DEVICE static inline double Widen(double value) { return value; }

[[maybe_unused]] MESHWRIGHT_HOST_DEVICE static inline float Widen(Bf16 value) {
  const uint32_t bits = static_cast<uint32_t>(value.bits) << 16;
  float result;
  memcpy(&result, &bits, sizeof(result));
  return result;
}

[[maybe_unused]] MESHWRIGHT_HOST_DEVICE static inline void Narrow(float value, float& out) {
  out = value;
}

[[maybe_unused]] MESHWRIGHT_HOST_DEVICE static inline void Narrow(double value, double& out) {
  out = value;
}

// Rounds to nearest, ties to even. NaN stays NaN, though its bits differ between GPUs and CPUs.
[[maybe_unused]] MESHWRIGHT_HOST_DEVICE static inline void Narrow(float value, Bf16& out) {
#if defined(__CUDA_ARCH__)
  // This is a single instruction, which converts two neighbouring values at once.
  out.bits = __bfloat16_as_ushort(__float2bfloat16_rn(value));
#else
  uint32_t bits;
  memcpy(&bits, &value, sizeof(bits));
  const uint32_t rounded = (bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16;
  const bool nan = (bits & 0x7fffffffu) > 0x7f800000u;
  out.bits = static_cast<uint16_t>(nan ? 0x7fc0u : rounded);
#endif
}

}  // namespace meshwright::kernels
