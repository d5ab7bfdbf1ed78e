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
    Narrow(Widen(x[i]) + Widen(branch[i]), sum[i]);
    squares += Widen(sum[i]) * Widen(sum[i]);
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

// `sums` gets the row's share of the weight gradient added; null where it isn't wanted.
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

template <typename T>
void BackwardRow(const RmsNormBackward& a, int64_t row, Accumulator<T>* sums) {
  using A = Accumulator<T>;
  const T* dy = static_cast<const T*>(a.dy) + row * a.width;
  const T* x = static_cast<const T*>(a.x) + row * a.width;
  const T* weight = static_cast<const T*>(a.weight);
  const A rstd = static_cast<const A*>(a.rstd)[row];
  const A dot = DotOfRow(dy, x, weight, rstd, sums, a.width);
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

// Groups of rows add up their part of the weight gradient, and then all groups do: every element is
// read once, and the order of the additions depends on the number of rows alone.
template <typename T>
class RowGroups {
 public:
  using A = Accumulator<T>;

  explicit RowGroups(const RmsNormBackward& args)
      : args_(args),
        rows_(args.rows < kLeastRows * kMostGroups ? kLeastRows
                                                   : (args.rows + kMostGroups - 1) / kMostGroups),
        sums_(args.weight_gradient == nullptr ? nullptr : new A[count() * args.width]()) {}
  ~RowGroups() { delete[] sums_; }
  RowGroups(const RowGroups&) = delete;
  RowGroups& operator=(const RowGroups&) = delete;

  int64_t count() const { return (args_.rows + rows_ - 1) / rows_; }
  int64_t rows() const { return rows_; }

  void RunGroup(int64_t group) const {
    A* sums = sums_ == nullptr ? nullptr : sums_ + group * args_.width;
    const int64_t end = (group + 1) * rows_ < args_.rows ? (group + 1) * rows_ : args_.rows;
    for (int64_t row = group * rows_; row < end; ++row) BackwardRow<T>(args_, row, sums);
  }

  void AddColumns(int64_t begin, int64_t end) const {
    A* gradient = static_cast<A*>(args_.weight_gradient);
    for (int64_t group = 0; group < count(); ++group) {
      const A* sums = sums_ + group * args_.width;
#pragma omp simd
      for (int64_t i = begin; i < end; ++i) gradient[i] += sums[i];
    }
  }

 private:
  static constexpr int64_t kLeastRows = 32;
  static constexpr int64_t kMostGroups = 64;

  const RmsNormBackward& args_;
  const int64_t rows_;  // of a group
  A* const sums_;       // [count(), width]; no std container: see kernels/cpu/loops.h
};

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
    const RowGroups<decltype(element)> groups(args);
    ForRange(parallel, groups.count(), groups.rows() * args.width, [&](int64_t begin, int64_t end) {
      for (int64_t group = begin; group < end; ++group) groups.RunGroup(group);
    });
    if (args.weight_gradient == nullptr) return;
    ForRange(parallel, args.width, groups.count(),
             [&](int64_t begin, int64_t end) { groups.AddColumns(begin, end); });
  });
}

}  // namespace meshwright::kernels::MESHWRIGHT_CPU_VARIANT
