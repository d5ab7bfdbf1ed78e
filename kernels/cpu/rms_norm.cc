#include <cmath>

#include "kernels/cpu/loops.h"

namespace meshwright::kernels::MESHWRIGHT_CPU_VARIANT {
namespace {

template <typename T>
Accumulator<T> SquaresOf(const T* x, int64_t width) {
  Accumulator<T> squares = 0;
#pragma omp simd reduction(+ : squares)
  for (int64_t i = 0; i < width; ++i) squares += Widen(x[i]) * Widen(x[i]);
  return squares;
}

// The squares of the sum, which is written.
template <typename T>
Accumulator<T> SquaresOfSum(const T* x, const T* branch, T* sum, int64_t width) {
  Accumulator<T> squares = 0;
#pragma omp simd reduction(+ : squares)
  for (int64_t i = 0; i < width; ++i) {
    T rounded;
    Narrow(Widen(x[i]) + Widen(branch[i]), rounded);
    sum[i] = rounded;
    squares += Widen(rounded) * Widen(rounded);
  }
  return squares;
}

template <typename T>
void ForwardRow(const RmsNormForward& a, int64_t row) {
  using A = Accumulator<T>;
  const T* x = static_cast<const T*>(a.x) + row * a.width;
  const T* weight = static_cast<const T*>(a.weight);
  T* y = static_cast<T*>(a.y) + row * a.width;
  A squares;
  if (a.branch == nullptr) {
    squares = SquaresOf(x, a.width);
  } else {
    T* sum = static_cast<T*>(a.sum) + row * a.width;
    squares = SquaresOfSum(x, static_cast<const T*>(a.branch) + row * a.width, sum, a.width);
    x = sum;
  }
  const A rstd = 1 / std::sqrt(squares / static_cast<A>(a.width) + static_cast<A>(a.epsilon));
  static_cast<A*>(a.rstd)[row] = rstd;
#pragma omp simd
  for (int64_t i = 0; i < a.width; ++i) Narrow(Widen(x[i]) * rstd * Widen(weight[i]), y[i]);
}

template <typename T>
void BackwardRow(const RmsNormBackward& a, int64_t row) {
  using A = Accumulator<T>;
  const T* dy = static_cast<const T*>(a.dy) + row * a.width;
  const T* x = static_cast<const T*>(a.x) + row * a.width;
  const T* weight = static_cast<const T*>(a.weight);
  const A rstd = static_cast<const A*>(a.rstd)[row];
  A dot = 0;
#pragma omp simd reduction(+ : dot)
  for (int64_t i = 0; i < a.width; ++i) dot += Widen(dy[i]) * Widen(weight[i]) * Widen(x[i]);
  const A mean = dot * rstd * rstd / static_cast<A>(a.width);
  T* dx = static_cast<T*>(a.dx) + row * a.width;
  if (a.residual_gradient == nullptr) {
#pragma omp simd
    for (int64_t i = 0; i < a.width; ++i) {
      Narrow(rstd * (Widen(dy[i]) * Widen(weight[i]) - Widen(x[i]) * mean), dx[i]);
    }
    return;
  }
  const T* residual = static_cast<const T*>(a.residual_gradient) + row * a.width;
#pragma omp simd
  for (int64_t i = 0; i < a.width; ++i) {
    const A through = rstd * (Widen(dy[i]) * Widen(weight[i]) - Widen(x[i]) * mean);
    Narrow(Widen(residual[i]) + through, dx[i]);
  }
}

// Columns [begin, end) of the weight gradient. Runs before dx overwrites dy.
template <typename T>
void WeightGradientColumns(const RmsNormBackward& a, int64_t begin, int64_t end) {
  using A = Accumulator<T>;
  const T* dy = static_cast<const T*>(a.dy);
  const T* x = static_cast<const T*>(a.x);
  A* gradient = static_cast<A*>(a.weight_gradient);
  for (int64_t row = 0; row < a.rows; ++row) {
    const A rstd = static_cast<const A*>(a.rstd)[row];
    const int64_t offset = row * a.width;
#pragma omp simd
    for (int64_t i = begin; i < end; ++i) {
      gradient[i] += Widen(dy[offset + i]) * Widen(x[offset + i]) * rstd;
    }
  }
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
    if (args.weight_gradient != nullptr) {
      ForRange(parallel, args.width, args.rows,
               [&](int64_t begin, int64_t end) { WeightGradientColumns<T>(args, begin, end); });
    }
    ForRange(parallel, args.rows, args.width, [&](int64_t begin, int64_t end) {
      for (int64_t row = begin; row < end; ++row) BackwardRow<T>(args, row);
    });
  });
}

}  // namespace meshwright::kernels::MESHWRIGHT_CPU_VARIANT
