#include "kernels/cpu/norm_rows.h"

namespace meshwright::kernels::MESHWRIGHT_CPU_VARIANT {
namespace {

// Writes the sum and returns its sum of squares.
template <typename T>
Accumulator<T> SquaresOfSum(const T* x, const T* branch, T* sum, int64_t width) {
  Accumulator<T> squares = 0;
#pragma omp simd reduction(+ : squares)
  for (int64_t i = 0; i < width; ++i) {
    Narrow(Widen(x[i]) + Widen(branch[i]), sum[i]);
    squares += Widen(sum[i]) * Widen(sum[i]);
  }
  return squares;
}

template <typename T>
void ForwardRow(const RmsNormForward& a, int64_t row) {
  using A = Accumulator<T>;
  const T* x = static_cast<const T*>(a.x) + row * a.width;
  A squares;
  if (a.branch == nullptr) {
    squares = SquaresOf(x, a.width);
  } else {
    T* sum = static_cast<T*>(a.sum) + row * a.width;
    squares = SquaresOfSum(x, static_cast<const T*>(a.branch) + row * a.width, sum, a.width);
    x = sum;
  }
  T* y = static_cast<T*>(a.y) + row * a.width;
  static_cast<A*>(a.rstd)[row] =
      NormRow(x, static_cast<const T*>(a.weight), y, squares, a.epsilon, a.width);
}

template <typename T>
void BackwardRow(const RmsNormBackward& a, int64_t row, Accumulator<T>* sums) {
  const int64_t at = row * a.width;
  const T* residual = static_cast<const T*>(a.residual_gradient);
  GradientRow(static_cast<const T*>(a.dy) + at, static_cast<const T*>(a.x) + at,
              static_cast<const T*>(a.weight), residual == nullptr ? nullptr : residual + at,
              static_cast<T*>(a.dx) + at, static_cast<const Accumulator<T>*>(a.rstd)[row], sums,
              a.width);
}

}  // namespace

void Run(const RmsNormForward& args, const Parallel& parallel) {
  WithElement(args.type, [&](auto element) {
    ForRange(parallel, args.rows, args.width, [&](int64_t begin, int64_t end) {
      for (int64_t row = begin; row < end; ++row) ForwardRow<decltype(element)>(args, row);
    });
  });
}

void Run(const RmsNormBackward& args, const Parallel& parallel) {
  WithElement(args.type, [&](auto element) {
    using T = decltype(element);
    using A = Accumulator<T>;
    RowGroups<A>(args.rows, args.width, static_cast<A*>(args.weight_gradient))
        .Run(parallel, [&](int64_t row, A* sums) { BackwardRow<T>(args, row, sums); });
  });
}

}  // namespace meshwright::kernels::MESHWRIGHT_CPU_VARIANT
