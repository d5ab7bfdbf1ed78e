// Converts to and from E4M3 numbers (OCP 8-bit floating point: 4 bits of exponent, 3 of mantissa,
// no infinity), and computes the scales that tiles of them share. All implementations of the
// operators give the results of these functions, so their bytes are equal.
//
// A tile's scale is the smallest power of two s for which |x| / s <= 448 for all numbers x of the
// tile. The scale is 1 for a tile of zeros, and at least 2^-126 for any tile. A power of two only
// changes exponents, so dequantising is exact as long as the exponents are representable.
// Transformer Engine's block scaling uses the same scales (Float8BlockScaling,
// `force_pow_2_scales`). Numbers round to nearest, ties to even, and saturate at 448; NaN stays
// NaN.
#pragma once

#include <cstdint>
#include <cstring>

#include "kernels/element.h"

namespace meshwright::kernels {

inline constexpr int64_t kScaleTile = 128;
inline constexpr float kMostE4m3 = 448.0f;
inline constexpr int kLeastScaleExponent = -126;
inline constexpr int kMostScaleExponent = 126;

// All functions are static, as explained in kernels/element.h.

[[maybe_unused]] MESHWRIGHT_HOST_DEVICE static inline int BoundedScaleExponent(int exponent) {
  if (exponent < kLeastScaleExponent) return kLeastScaleExponent;
  return exponent > kMostScaleExponent ? kMostScaleExponent : exponent;
}

// Returns the exponent of the scale of a tile whose largest magnitude is `most`. 448 is 1.75 * 2^8.
// Subnormal magnitudes have the least scale. REQUIRES: `most` is finite.
[[maybe_unused]] MESHWRIGHT_HOST_DEVICE static inline int ScaleExponent(float most) {
  if (!(most > 0.0f)) return 0;
  uint32_t bits;
  memcpy(&bits, &most, sizeof(bits));
  const bool above = (bits & 0x7fffffu) > 0x600000u;
  return BoundedScaleExponent(static_cast<int>(bits >> 23) - 127 - 8 + (above ? 1 : 0));
}
[[maybe_unused]] MESHWRIGHT_HOST_DEVICE static inline int ScaleExponent(double most) {
  if (!(most > 0.0)) return 0;
  uint64_t bits;
  memcpy(&bits, &most, sizeof(bits));
  const bool above = (bits & 0xfffffffffffffu) > 0xc000000000000u;
  return BoundedScaleExponent(static_cast<int>(bits >> 52) - 1023 - 8 + (above ? 1 : 0));
}

// Returns a number's magnitude, or 0 for NaN and infinity, which do not count for the largest
// magnitude of their tile.
[[maybe_unused]] MESHWRIGHT_HOST_DEVICE static inline float FiniteMagnitude(float value) {
  uint32_t bits;
  memcpy(&bits, &value, sizeof(bits));
  bits &= 0x7fffffffu;
  if (bits >= 0x7f800000u) bits = 0u;
  float magnitude;
  memcpy(&magnitude, &bits, sizeof(magnitude));
  return magnitude;
}
[[maybe_unused]] MESHWRIGHT_HOST_DEVICE static inline double FiniteMagnitude(double value) {
  uint64_t bits;
  memcpy(&bits, &value, sizeof(bits));
  bits &= 0x7fffffffffffffffu;
  if (bits >= 0x7ff0000000000000u) bits = 0u;
  double magnitude;
  memcpy(&magnitude, &bits, sizeof(magnitude));
  return magnitude;
}

// Returns 2^exponent. REQUIRES: the exponent is that of a normal number.
[[maybe_unused]] MESHWRIGHT_HOST_DEVICE static inline float PowerOfTwo(int exponent) {
  const uint32_t bits = static_cast<uint32_t>(exponent + 127) << 23;
  float power;
  memcpy(&power, &bits, sizeof(power));
  return power;
}

// Returns the bits of a magnitude below 2^-6, rounded to a multiple of 2^-9, the spacing of
// subnormal E4M3 numbers. Adding and removing a large number does the rounding.
[[maybe_unused]] MESHWRIGHT_HOST_DEVICE static inline uint32_t SmallE4m3Bits(float magnitude) {
  const float shift = 16384.0f;
  const float shifted = magnitude + shift;
  uint32_t bits;
  uint32_t shift_bits;
  memcpy(&bits, &shifted, sizeof(bits));
  memcpy(&shift_bits, &shift, sizeof(shift_bits));
  return bits - shift_bits;
}
[[maybe_unused]] MESHWRIGHT_HOST_DEVICE static inline uint32_t SmallE4m3Bits(double magnitude) {
  const double shift = 8796093022208.0;  // 2^43
  const double shifted = magnitude + shift;
  uint64_t bits;
  uint64_t shift_bits;
  memcpy(&bits, &shifted, sizeof(bits));
  memcpy(&shift_bits, &shift, sizeof(shift_bits));
  return static_cast<uint32_t>(bits - shift_bits);
}

[[maybe_unused]] MESHWRIGHT_HOST_DEVICE static inline uint8_t ToE4m3(float value) {
  uint32_t bits;
  memcpy(&bits, &value, sizeof(bits));
  const auto sign = static_cast<uint8_t>(bits >> 24 & 0x80u);
  bits &= 0x7fffffffu;
  if (bits > 0x7f800000u) return static_cast<uint8_t>(sign | 0x7fu);
  float magnitude;
  memcpy(&magnitude, &bits, sizeof(magnitude));
  if (magnitude >= kMostE4m3) return static_cast<uint8_t>(sign | 0x7eu);
  const uint32_t normal = ((bits + 0x7ffffu + (bits >> 20 & 1u)) >> 20) - (120u << 3);
  const uint32_t code = magnitude < 0.015625f ? SmallE4m3Bits(magnitude) : normal;
  return static_cast<uint8_t>(sign | code);
}

[[maybe_unused]] MESHWRIGHT_HOST_DEVICE static inline uint8_t ToE4m3(double value) {
  uint64_t bits;
  memcpy(&bits, &value, sizeof(bits));
  const auto sign = static_cast<uint8_t>(bits >> 56 & 0x80u);
  bits &= 0x7fffffffffffffffu;
  if (bits > 0x7ff0000000000000u) return static_cast<uint8_t>(sign | 0x7fu);
  double magnitude;
  memcpy(&magnitude, &bits, sizeof(magnitude));
  if (magnitude >= static_cast<double>(kMostE4m3)) return static_cast<uint8_t>(sign | 0x7eu);
  const uint64_t normal =
      ((bits + 0xffffffffffffu + (bits >> 49 & 1u)) >> 49) - (uint64_t{1016} << 3);
  const uint32_t code =
      magnitude < 0.015625 ? SmallE4m3Bits(magnitude) : static_cast<uint32_t>(normal);
  return static_cast<uint8_t>(sign | code);
}

[[maybe_unused]] MESHWRIGHT_HOST_DEVICE static inline float FromE4m3(uint8_t code) {
  const uint32_t magnitude = code & 0x7fu;
  const uint32_t sign = static_cast<uint32_t>(code & 0x80u) << 24;
  uint32_t bits = (magnitude << 20) + (120u << 23);
  if (magnitude == 0x7fu) bits = 0x7fc00000u;
  if (magnitude < 8u) {
    const float small = static_cast<float>(magnitude) * 0.001953125f;  // 2^-9
    memcpy(&bits, &small, sizeof(bits));
  }
  bits |= sign;
  float value;
  memcpy(&value, &bits, sizeof(value));
  return value;
}

}  // namespace meshwright::kernels
