#include <cmath>

#include "kernels/adamw_coefficients.h"
#include "kernels/cpu/loops.h"

namespace meshwright::kernels::MESHWRIGHT_CPU_VARIANT {
namespace {

// `full` is the fp32 weight; `rounded` its bf16 copy, or null.
void UpdateRange(const AdamW& a, const AdamWCoefficients& c, float* full, Bf16* rounded,
                 int64_t begin, int64_t end) {
  const float keep1 = 1.0f - a.beta1;
  const float keep2 = 1.0f - a.beta2;
#pragma omp simd
  for (int64_t i = begin; i < end; ++i) {
    const float gradient = a.gradient[i];
    const float m = a.beta1 * a.first_moment[i] + keep1 * gradient;
    const float v = a.beta2 * a.second_moment[i] + keep2 * gradient * gradient;
    a.first_moment[i] = m;
    a.second_moment[i] = v;
    full[i] = full[i] * c.decay - c.step_size * m / (std::sqrt(v) * c.inverse_root + a.epsilon);
  }
  if (rounded == nullptr) return;
#pragma omp simd
  for (int64_t i = begin; i < end; ++i) FromFloat(full[i], rounded[i]);
}

}  // namespace

void Run(const AdamW& args, const Parallel& parallel) {
  const AdamWCoefficients coefficients = CoefficientsOf(args);
  const bool fp32 = args.type == ElementType::kFp32;
  float* full = fp32 ? static_cast<float*>(args.weights) : args.master;
  Bf16* rounded = fp32 ? nullptr : static_cast<Bf16*>(args.weights);
  // In pieces that stay in cache between the update and the rounding.
  constexpr int64_t kPiece = 4096;
  const int64_t pieces = (args.count + kPiece - 1) / kPiece;
  ForRange(parallel, pieces, kPiece, [&](int64_t begin, int64_t end) {
    for (int64_t piece = begin; piece < end; ++piece) {
      const int64_t first = piece * kPiece;
      const int64_t last = first + kPiece < args.count ? first + kPiece : args.count;
      UpdateRange(args, coefficients, full, rounded, first, last);
    }
  });
}

}  // namespace meshwright::kernels::MESHWRIGHT_CPU_VARIANT
