// Computes normal numbers as a pure function of a key and a position, so that any part of a tensor
// can be computed anywhere and in any order.
#pragma once

#include <cmath>
#include <cstdint>

#include "kernels/element.h"
#include "kernels/operators.h"
#include "kernels/parallel.h"

namespace meshwright::kernels {

// The finaliser of splitmix64: a bijection whose outputs for successive counters look random.
[[maybe_unused]] MESHWRIGHT_HOST_DEVICE static inline uint64_t Mix(uint64_t x) {
  x += 0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

struct NormalPair {
  float first;
  float second;
};

// Returns elements 2 i and 2 i + 1, by the Box-Muller transform.
[[maybe_unused]] MESHWRIGHT_HOST_DEVICE static inline NormalPair NormalPairAt(uint64_t key,
                                                                              int64_t i) {
  const uint64_t bits = Mix(key ^ Mix(static_cast<uint64_t>(i)));
  constexpr float kUnit = 1.0f / 16777216.0f;
  // The number is in (0, 1], so that its logarithm is finite.
  const float radius_uniform = (static_cast<float>(bits >> 40) + 1.0f) * kUnit;
  const float angle_uniform = static_cast<float>((bits >> 8) & 0xffffffu) * kUnit;
  const float radius = std::sqrt(-2.0f * std::log(radius_uniform));
  const float angle = 6.28318530717958648f * angle_uniform;
  return {radius * std::cos(angle), radius * std::sin(angle)};
}

[[maybe_unused]] MESHWRIGHT_HOST_DEVICE static inline float NormalAt(uint64_t key,
                                                                     int64_t element) {
  const NormalPair pair = NormalPairAt(key, element / 2);
  return element % 2 == 0 ? pair.first : pair.second;
}

// Fills args.values on the CPU. This function is not compiled per instruction set, so that
// different hosts start from the same bits.
void FillNormal(const RandomNormal& args, const Parallel& parallel);

}  // namespace meshwright::kernels
