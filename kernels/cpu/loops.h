// Provides helpers of the CPU kernels. Every file of kernels/cpu is compiled once per instruction
// set, each time in its own namespace (MESHWRIGHT_CPU_VARIANT). The linker must not be able to
// share one copy of anything here between variants.
#pragma once

#include <cstdint>

#include "kernels/element.h"
#include "kernels/operators.h"
#include "kernels/parallel.h"

namespace meshwright::kernels::MESHWRIGHT_CPU_VARIANT {

// The minimum number of elements for which an additional thread is worth its cost.
inline constexpr int64_t kGrainElements = 16384;

// Calls body(begin, end) on ranges of [0, count). Each item stands for `item_elements` elements.
template <typename Body>
void ForRange(const Parallel& parallel, int64_t count, int64_t item_elements, const Body& body) {
  const int64_t grain = item_elements >= kGrainElements ? 1 : kGrainElements / item_elements;
  parallel.run(
      count, grain,
      [](void* state, int64_t begin, int64_t end) {
        (*static_cast<const Body*>(state))(begin, end);
      },
      const_cast<void*>(static_cast<const void*>(&body)));
}

// Calls body with a value of the element type.
template <typename Body>
void WithElement(ElementType type, const Body& body) {
  switch (type) {
    case ElementType::kFp32:
      return body(float{});
    case ElementType::kBf16:
      return body(Bf16{});
    case ElementType::kFp64:
      return body(double{});
  }
}

// Returns exp(x) to about 2 units in the last place for x <= 88, and 0 for x below -87. Uses a
// polynomial on [-ln2/2, ln2/2] and an exponent shift, so that loops over it vectorise.
static inline float FastExp(float x) {
  const float bounded = x < -87.0f ? -87.0f : (x > 88.0f ? 88.0f : x);
  const float shifted = bounded * 1.44269504088896341f + 12582912.0f;  // rounds to an integer
  const float n = shifted - 12582912.0f;
  const float r = (bounded - n * 0.693359375f) - n * -2.12194440e-4f;
  float p = 1.9875691500e-4f;
  p = p * r + 1.3981999507e-3f;
  p = p * r + 8.3334519073e-3f;
  p = p * r + 4.1665795894e-2f;
  p = p * r + 1.6666665459e-1f;
  p = p * r + 5.0000001201e-1f;
  p = p * r * r + r + 1.0f;
  const int32_t bits = (static_cast<int32_t>(n) + 127) << 23;
  float scale;
  __builtin_memcpy(&scale, &bits, sizeof(scale));
  return x < -87.0f ? 0.0f : p * scale;
}

// Returns exp(x) in fp64 for x <= 709, and 0 for x below -708.
static inline double FastExp(double x) {
  const double bounded = x < -708.0 ? -708.0 : (x > 709.0 ? 709.0 : x);
  constexpr double kRound = 6755399441055744.0;  // 1.5 * 2^52: adding it rounds to an integer
  const double shifted = bounded * 1.4426950408889634074 + kRound;
  const double n = shifted - kRound;
  const double r = (bounded - n * 6.93145751953125e-1) - n * 1.42860682030941723212e-6;
  // Taylor series: on [-ln2/2, ln2/2] its remainder is below the rounding error.
  double p = 1.0 / 6227020800.0;
  p = p * r + 1.0 / 479001600.0;
  p = p * r + 1.0 / 39916800.0;
  p = p * r + 1.0 / 3628800.0;
  p = p * r + 1.0 / 362880.0;
  p = p * r + 1.0 / 40320.0;
  p = p * r + 1.0 / 5040.0;
  p = p * r + 1.0 / 720.0;
  p = p * r + 1.0 / 120.0;
  p = p * r + 1.0 / 24.0;
  p = p * r + 1.0 / 6.0;
  p = p * r + 0.5;
  p = p * r * r + r + 1.0;
  // The low bits of `shifted` hold the integer: this avoids a conversion that AVX2 lacks.
  uint64_t bits;
  __builtin_memcpy(&bits, &shifted, sizeof(bits));
  bits = (bits + 1023) << 52;
  double scale;
  __builtin_memcpy(&scale, &bits, sizeof(scale));
  return x < -708.0 ? 0.0 : p * scale;
}

void Run(const RmsNormForward& args, const Parallel& parallel);
void Run(const RmsNormBackward& args, const Parallel& parallel);
void Run(const LayerNormForward& args, const Parallel& parallel);
void Run(const LayerNormBackward& args, const Parallel& parallel);
void Run(const HeadNormForward& args, const Parallel& parallel);
void Run(const HeadNormBackward& args, const Parallel& parallel);
void Run(const SwigluForward& args, const Parallel& parallel);
void Run(const SwigluBackward& args, const Parallel& parallel);
void Run(const RouterForward& args, const Parallel& parallel);
void Run(const RouterBackward& args, const Parallel& parallel);
void Run(const GatherRows& args, const Parallel& parallel);
void Run(const ScatterRows& args, const Parallel& parallel);
void Run(const SumRows& args, const Parallel& parallel);
void Run(const ExpertSwigluForward& args, const Parallel& parallel);
void Run(const ExpertSwigluBackward& args, const Parallel& parallel);
void Run(const WeighedBias& args, const Parallel& parallel);
void Run(const WeighedBiasBackward& args, const Parallel& parallel);
void Run(const ActivationForward& args, const Parallel& parallel);
void Run(const ActivationBackward& args, const Parallel& parallel);
void Run(const BiasGradient& args, const Parallel& parallel);
void Run(const Rope& args, const Parallel& parallel);
void Run(const AttentionMerge& args, const Parallel& parallel);
void Run(const AttentionSink& args, const Parallel& parallel);
void Run(const AttentionSinkGradient& args, const Parallel& parallel);
void Run(const CrossEntropyStatistics& args, const Parallel& parallel);
void Run(const CrossEntropyRescale& args, const Parallel& parallel);
void Run(const CrossEntropyLoss& args, const Parallel& parallel);
void Run(const CrossEntropyBackward& args, const Parallel& parallel);
void Run(const EmbeddingForward& args, const Parallel& parallel);
void Run(const EmbeddingBackward& args, const Parallel& parallel);
void Run(const Accumulate& args, const Parallel& parallel);
void Run(const SumOfSquares& args, const Parallel& parallel);
void Run(const AdamW& args, const Parallel& parallel);
void Run(const Quantise& args, const Parallel& parallel);
void Run(const Dequantise& args, const Parallel& parallel);

}  // namespace meshwright::kernels::MESHWRIGHT_CPU_VARIANT
