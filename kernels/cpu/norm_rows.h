// Computes RMSNorm of one row and its gradient, and weight gradients over many rows.
#pragma once

#include <cmath>

#include "kernels/cpu/loops.h"

namespace meshwright::kernels::MESHWRIGHT_CPU_VARIANT {

template <typename T>
Accumulator<T> SquaresOf(const T* x, int64_t width) {
  Accumulator<T> squares = 0;
#pragma omp simd reduction(+ : squares)
  for (int64_t i = 0; i < width; ++i) squares += Widen(x[i]) * Widen(x[i]);
  return squares;
}

// Writes the normed row to y. Returns the reciprocal deviation.
template <typename T>
Accumulator<T> NormRow(const T* x, const T* weight, T* y, Accumulator<T> squares, double epsilon,
                       int64_t width) {
  using A = Accumulator<T>;
  const A rstd = 1 / std::sqrt(squares / static_cast<A>(width) + static_cast<A>(epsilon));
#pragma omp simd
  for (int64_t i = 0; i < width; ++i) Narrow(Widen(x[i]) * rstd * Widen(weight[i]), y[i]);
  return rstd;
}

// Returns the sum of dy * weight * x over the row. Adds the row's share of the weight gradient to
// `sums`, unless `sums` is null.
template <typename T>
Accumulator<T> DotOfRow(const T* dy, const T* x, const T* weight, Accumulator<T> rstd,
                        Accumulator<T>* sums, int64_t width) {
  using A = Accumulator<T>;
  A dot = 0;
  if (sums == nullptr) {
#pragma omp simd reduction(+ : dot)
    for (int64_t i = 0; i < width; ++i) dot += Widen(dy[i]) * Widen(weight[i]) * Widen(x[i]);
    return dot;
  }
#pragma omp simd reduction(+ : dot)
  for (int64_t i = 0; i < width; ++i) {
    const A through = Widen(dy[i]) * Widen(x[i]);
    sums[i] += through * rstd;
    dot += through * Widen(weight[i]);
  }
  return dot;
}

// Writes the row's gradient to dx, plus `residual` unless it is null. Adds to `sums` like
// DotOfRow(). dx may be dy or x.
template <typename T>
void GradientRow(const T* dy, const T* x, const T* weight, const T* residual, T* dx,
                 Accumulator<T> rstd, Accumulator<T>* sums, int64_t width) {
  using A = Accumulator<T>;
  const A dot = DotOfRow(dy, x, weight, rstd, sums, width);
  const A mean = dot * rstd * rstd / static_cast<A>(width);
  if (residual == nullptr) {
#pragma omp simd
    for (int64_t i = 0; i < width; ++i) {
      Narrow(rstd * (Widen(dy[i]) * Widen(weight[i]) - Widen(x[i]) * mean), dx[i]);
    }
    return;
  }
#pragma omp simd
  for (int64_t i = 0; i < width; ++i) {
    const A through = rstd * (Widen(dy[i]) * Widen(weight[i]) - Widen(x[i]) * mean);
    Narrow(Widen(residual[i]) + through, dx[i]);
  }
}

// RowGroups sums a vector's gradient over rows: the rows of each group are summed first, then the
// sums of the groups. Every element is read once, and the order of additions depends only on the
// number of rows.
template <typename A>
class RowGroups {
 public:
  // Sums over `rows` rows of `width` elements. The sums are added to `gradient` [width], and the
  // sums of a second vector to `second`. Either pointer is null if its sums aren't needed.
  // REQUIRES: `second` is null if `gradient` is.
  RowGroups(int64_t rows, int64_t width, A* gradient, A* second = nullptr)
      : all_rows_(rows),
        rows_(rows < kLeastRows * kMostGroups ? kLeastRows
                                              : (rows + kMostGroups - 1) / kMostGroups),
        groups_((rows + rows_ - 1) / rows_),
        width_(width),
        sum_width_((second == nullptr ? 1 : 2) * width),
        gradient_(gradient),
        second_(second),
        sums_(gradient == nullptr ? nullptr : new A[groups_ * sum_width_]()) {}
  ~RowGroups() { delete[] sums_; }
  RowGroups(const RowGroups&) = delete;
  RowGroups& operator=(const RowGroups&) = delete;

  // Calls row_body(row, sums) for every row; the second vector's sums follow at sums + width.
  template <typename RowBody>
  void Run(const Parallel& parallel, const RowBody& row_body) const {
    ForRange(parallel, groups_, rows_ * width_, [&](int64_t begin, int64_t end) {
      for (int64_t group = begin; group < end; ++group) {
        A* sums = sums_ == nullptr ? nullptr : sums_ + group * sum_width_;
        const int64_t last = (group + 1) * rows_ < all_rows_ ? (group + 1) * rows_ : all_rows_;
        for (int64_t row = group * rows_; row < last; ++row) row_body(row, sums);
      }
    });
    if (gradient_ != nullptr) Add(parallel, sums_, gradient_);
    if (second_ != nullptr) Add(parallel, sums_ + width_, second_);
  }

 private:
  static constexpr int64_t kLeastRows = 32;
  static constexpr int64_t kMostGroups = 64;

  // Adds the sums of all groups to `gradient`. `from` points to the sums of the first group.
  void Add(const Parallel& parallel, const A* from, A* gradient) const {
    ForRange(parallel, width_, groups_, [&](int64_t begin, int64_t end) {
      for (int64_t group = 0; group < groups_; ++group) {
        const A* sums = from + group * sum_width_;
#pragma omp simd
        for (int64_t i = begin; i < end; ++i) gradient[i] += sums[i];
      }
    });
  }

  const int64_t all_rows_;
  const int64_t rows_;  // rows per group
  const int64_t groups_;
  const int64_t width_;
  const int64_t sum_width_;  // width of the sums of both vectors together
  A* const gradient_;
  A* const second_;
  A* const sums_;  // [groups_, sum_width_]; no std container: see kernels/cpu/loops.h
};

}  // namespace meshwright::kernels::MESHWRIGHT_CPU_VARIANT
