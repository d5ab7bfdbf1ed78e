#include "kernels/cpu/norm_rows.h"

namespace meshwright::kernels::MESHWRIGHT_CPU_VARIANT {
namespace {

template <typename T>
Accumulator<T> MeanOf(const T* x, int64_t width) {
  Accumulator<T> sum = 0;
#pragma omp simd reduction(+ : sum)
  for (int64_t i = 0; i < width; ++i) sum += Widen(x[i]);
  return sum / static_cast<Accumulator<T>>(width);
}

// Writes the sum and returns its mean.
template <typename T>
Accumulator<T> MeanOfSum(const T* x, const T* branch, T* to, int64_t width) {
  Accumulator<T> sum = 0;
#pragma omp simd reduction(+ : sum)
  for (int64_t i = 0; i < width; ++i) {
    Narrow(Widen(x[i]) + Widen(branch[i]), to[i]);
    sum += Widen(to[i]);
  }
  return sum / static_cast<Accumulator<T>>(width);
}

// Sums squares around the mean: a sum of plain squares would cancel for large means.
template <typename T>
Accumulator<T> RstdOf(const T* x, Accumulator<T> mean, double epsilon, int64_t width) {
  using A = Accumulator<T>;
  A squares = 0;
#pragma omp simd reduction(+ : squares)
  for (int64_t i = 0; i < width; ++i) squares += (Widen(x[i]) - mean) * (Widen(x[i]) - mean);
  return 1 / std::sqrt(squares / static_cast<A>(width) + static_cast<A>(epsilon));
}

template <typename T>
void ForwardRow(const LayerNormForward& a, int64_t row) {
  using A = Accumulator<T>;
  const T* x = static_cast<const T*>(a.x) + row * a.width;
  A mean;
  if (a.branch == nullptr) {
    mean = MeanOf(x, a.width);
  } else {
    T* sum = static_cast<T*>(a.sum) + row * a.width;
    mean = MeanOfSum(x, static_cast<const T*>(a.branch) + row * a.width, sum, a.width);
    x = sum;
  }
  const A rstd = RstdOf(x, mean, a.epsilon, a.width);
  const T* weight = static_cast<const T*>(a.weight);
  const T* bias = static_cast<const T*>(a.bias);
  T* y = static_cast<T*>(a.y) + row * a.width;
#pragma omp simd
  for (int64_t i = 0; i < a.width; ++i) {
    const A scale = weight == nullptr ? A{1} : Widen(weight[i]);
    const A shift = bias == nullptr ? A{0} : Widen(bias[i]);
    Narrow((Widen(x[i]) - mean) * rstd * scale + shift, y[i]);
  }
  static_cast<A*>(a.statistics)[row] = rstd;
  static_cast<A*>(a.statistics)[a.rows + row] = mean;
}

// Adds the row's share of the weight's gradient to `sums`, and of the bias's to sums + width.
template <typename T>
void BackwardRow(const LayerNormBackward& a, int64_t row, Accumulator<T>* sums) {
  using A = Accumulator<T>;
  const int64_t at = row * a.width;
  const T* dy = static_cast<const T*>(a.dy) + at;
  const T* x = static_cast<const T*>(a.x) + at;
  const T* weight = static_cast<const T*>(a.weight);
  const T* residual =
      a.residual_gradient == nullptr ? nullptr : static_cast<const T*>(a.residual_gradient) + at;
  T* dx = static_cast<T*>(a.dx) + at;
  const A rstd = static_cast<const A*>(a.statistics)[row];
  const A mean = static_cast<const A*>(a.statistics)[a.rows + row];
  A sum = 0;
  A dot = 0;
#pragma omp simd reduction(+ : sum, dot)
  for (int64_t i = 0; i < a.width; ++i) {
    const A through = Widen(dy[i]) * (weight == nullptr ? A{1} : Widen(weight[i]));
    sum += through;
    dot += through * (Widen(x[i]) - mean) * rstd;
  }
  if (sums != nullptr) {
#pragma omp simd
    for (int64_t i = 0; i < a.width; ++i) sums[i] += Widen(dy[i]) * (Widen(x[i]) - mean) * rstd;
  }
  if (sums != nullptr && a.bias_gradient != nullptr) {
#pragma omp simd
    for (int64_t i = 0; i < a.width; ++i) sums[a.width + i] += Widen(dy[i]);
  }
  sum /= static_cast<A>(a.width);
  dot /= static_cast<A>(a.width);
#pragma omp simd
  for (int64_t i = 0; i < a.width; ++i) {
    const A through = Widen(dy[i]) * (weight == nullptr ? A{1} : Widen(weight[i]));
    const A normed = (Widen(x[i]) - mean) * rstd;
    const A direct = residual == nullptr ? A{0} : Widen(residual[i]);
    Narrow(direct + rstd * (through - sum - normed * dot), dx[i]);
  }
}

}  // namespace

void Run(const LayerNormForward& args, const Parallel& parallel) {
  WithElement(args.type, [&](auto element) {
    ForRange(parallel, args.rows, args.width, [&](int64_t begin, int64_t end) {
      for (int64_t row = begin; row < end; ++row) ForwardRow<decltype(element)>(args, row);
    });
  });
}

void Run(const LayerNormBackward& args, const Parallel& parallel) {
  WithElement(args.type, [&](auto element) {
    using T = decltype(element);
    using A = Accumulator<T>;
    RowGroups<A>(args.rows, args.width, static_cast<A*>(args.weight_gradient),
                 static_cast<A*>(args.bias_gradient))
        .Run(parallel, [&](int64_t row, A* sums) { BackwardRow<T>(args, row, sums); });
  });
}

}  // namespace meshwright::kernels::MESHWRIGHT_CPU_VARIANT
