#include "kernels/cpu/loops.h"

namespace meshwright::kernels::MESHWRIGHT_CPU_VARIANT {
namespace {

// Returns the elements of one partial sum: enough that the sums are negligible beside them.
int64_t PieceElements(int64_t count) {
  constexpr int64_t kLeast = 1024;
  const int64_t share = (count + SumOfSquares::kPartialSums - 1) / SumOfSquares::kPartialSums;
  return share < kLeast ? kLeast : share;
}

template <typename T>
double SumRange(const T* x, int64_t begin, int64_t end) {
  double sum = 0.0;
#pragma omp simd reduction(+ : sum)
  for (int64_t i = begin; i < end; ++i) {
    const auto value = static_cast<double>(Widen(x[i]));
    sum += value * value;
  }
  return sum;
}

}  // namespace

void Run(const SumOfSquares& args, const Parallel& parallel) {
  const int64_t piece = PieceElements(args.count);
  const int64_t pieces = (args.count + piece - 1) / piece;
  WithElement(args.type, [&](auto element) {
    const auto* x = static_cast<const decltype(element)*>(args.x);
    ForRange(parallel, pieces, piece, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const int64_t last = (i + 1) * piece < args.count ? (i + 1) * piece : args.count;
        args.partial_sums[i] = SumRange(x, i * piece, last);
      }
    });
  });
  double sum = 0.0;
  for (int64_t i = 0; i < pieces; ++i) sum += args.partial_sums[i];
  *args.sum += sum;
}

}  // namespace meshwright::kernels::MESHWRIGHT_CPU_VARIANT
