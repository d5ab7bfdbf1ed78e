// What the CPU kernels share. Every file of kernels/cpu is compiled once per instruction set, each
// time in a namespace of its own (MESHWRIGHT_CPU_VARIANT), so nothing here may have a copy that
// another variant could pick up.
#pragma once

#include <cstdint>

#include "kernels/element.h"
#include "kernels/operators.h"
#include "kernels/parallel.h"

namespace meshwright::kernels::MESHWRIGHT_CPU_VARIANT {

// Elements that are worth a thread of their own.
inline constexpr int64_t kGrainElements = 16384;

// body(begin, end) over [0, count), where one item stands for `item_elements` elements.
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
  if (type == ElementType::kFp32) {
    body(float{});
  } else {
    body(Bf16{});
  }
}

// exp(x) to about 2 units in the last place for x <= 88, 0 below -87: a polynomial on
// [-ln2/2, ln2/2] and an exponent shift, so that a loop over it vectorises.
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

void Run(const RmsNormForward& args, const Parallel& parallel);
void Run(const RmsNormBackward& args, const Parallel& parallel);
void Run(const SwigluForward& args, const Parallel& parallel);
void Run(const SwigluBackward& args, const Parallel& parallel);
void Run(const Rope& args, const Parallel& parallel);
void Run(const CrossEntropyStatistics& args, const Parallel& parallel);
void Run(const CrossEntropyRescale& args, const Parallel& parallel);
void Run(const CrossEntropyLoss& args, const Parallel& parallel);
void Run(const CrossEntropyBackward& args, const Parallel& parallel);
void Run(const EmbeddingForward& args, const Parallel& parallel);
void Run(const EmbeddingBackward& args, const Parallel& parallel);
void Run(const Accumulate& args, const Parallel& parallel);
void Run(const AdamW& args, const Parallel& parallel);

}  // namespace meshwright::kernels::MESHWRIGHT_CPU_VARIANT
