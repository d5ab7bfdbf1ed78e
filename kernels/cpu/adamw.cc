#include <cmath>
#include <type_traits>

#include "kernels/adamw_coefficients.h"
#include "kernels/cpu/loops.h"

namespace meshwright::kernels::MESHWRIGHT_CPU_VARIANT {
namespace {

// `full` is the weight in the accumulator type.
template <typename A>
void UpdateRange(const AdamW& a, const AdamWCoefficients<A>& c, A* full, int64_t begin,
                 int64_t end) {
  const A* gradients = static_cast<const A*>(a.gradient);
  A* first_moment = static_cast<A*>(a.first_moment);
  A* second_moment = static_cast<A*>(a.second_moment);
#pragma omp simd
  for (int64_t i = begin; i < end; ++i) {
    const A gradient = gradients[i];
    const A m = c.beta1 * first_moment[i] + c.keep1 * gradient;
    const A v = c.beta2 * second_moment[i] + c.keep2 * gradient * gradient;
    first_moment[i] = m;
    second_moment[i] = v;
    full[i] = full[i] * c.decay - c.step_size * m / (std::sqrt(v) * c.inverse_root + c.epsilon);
  }
}

template <typename T>
void Update(const AdamW& a, const Parallel& parallel) {
  using A = Accumulator<T>;
  constexpr bool kHasMaster = !std::is_same_v<T, A>;
  const auto coefficients = CoefficientsOf<A>(a);
  A* full = static_cast<A*>(kHasMaster ? a.master : a.weights);
  // In pieces that stay in cache between update and rounding.
  constexpr int64_t kPiece = 4096;
  const int64_t pieces = (a.count + kPiece - 1) / kPiece;
  ForRange(parallel, pieces, kPiece, [&](int64_t begin, int64_t end) {
    for (int64_t piece = begin; piece < end; ++piece) {
      const int64_t first = piece * kPiece;
      const int64_t last = first + kPiece < a.count ? first + kPiece : a.count;
      UpdateRange(a, coefficients, full, first, last);
      if constexpr (kHasMaster) {
        T* rounded = static_cast<T*>(a.weights);
#pragma omp simd
        for (int64_t i = first; i < last; ++i) Narrow(full[i], rounded[i]);
      }
    }
  });
}

}  // namespace

void Run(const AdamW& args, const Parallel& parallel) {
  WithElement(args.type, [&](auto element) { Update<decltype(element)>(args, parallel); });
}

}  // namespace meshwright::kernels::MESHWRIGHT_CPU_VARIANT
