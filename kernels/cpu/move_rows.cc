#include <cstring>

#include "kernels/cpu/loops.h"

namespace meshwright::kernels::MESHWRIGHT_CPU_VARIANT {
namespace {

template <typename T>
void Gather(const GatherRows& a, int64_t row) {
  const auto bytes = static_cast<size_t>(a.width) * sizeof(T);
  T* y = static_cast<T*>(a.y) + row * a.width;
  if (a.index[row] < 0) {
    std::memset(y, 0, bytes);
  } else {
    std::memcpy(y, static_cast<const T*>(a.x) + a.index[row] / a.divisor * a.width, bytes);
  }
}

template <typename T>
void Scatter(const ScatterRows& a, int64_t row) {
  std::memcpy(static_cast<T*>(a.y) + a.index[row] * a.width,
              static_cast<const T*>(a.x) + row * a.width, static_cast<size_t>(a.width) * sizeof(T));
}

// Columns processed together, few enough that their sums stay in registers.
constexpr int64_t kColumns = 64;

template <typename T>
void Sum(const SumRows& a, int64_t row) {
  using A = Accumulator<T>;
  const T* x = static_cast<const T*>(a.x);
  T* y = static_cast<T*>(a.y) + row * a.width;
  for (int64_t first = 0; first < a.width; first += kColumns) {
    const int64_t columns = a.width - first < kColumns ? a.width - first : kColumns;
    A sums[kColumns] = {};
    for (int64_t j = 0; j < a.terms; ++j) {
      const int64_t from = a.index[row * a.terms + j];
      if (from < 0) continue;
      const T* term = x + from * a.width + first;
#pragma omp simd
      for (int64_t i = 0; i < columns; ++i) sums[i] += Widen(term[i]);
    }
#pragma omp simd
    for (int64_t i = 0; i < columns; ++i) Narrow(sums[i], y[first + i]);
  }
}

}  // namespace

void Run(const GatherRows& args, const Parallel& parallel) {
  WithElement(args.type, [&](auto element) {
    ForRange(parallel, args.rows, args.width, [&](int64_t begin, int64_t end) {
      for (int64_t row = begin; row < end; ++row) Gather<decltype(element)>(args, row);
    });
  });
}

void Run(const ScatterRows& args, const Parallel& parallel) {
  WithElement(args.type, [&](auto element) {
    ForRange(parallel, args.rows, args.width, [&](int64_t begin, int64_t end) {
      for (int64_t row = begin; row < end; ++row) Scatter<decltype(element)>(args, row);
    });
  });
}

void Run(const SumRows& args, const Parallel& parallel) {
  WithElement(args.type, [&](auto element) {
    ForRange(parallel, args.rows, args.terms * args.width, [&](int64_t begin, int64_t end) {
      for (int64_t row = begin; row < end; ++row) Sum<decltype(element)>(args, row);
    });
  });
}

}  // namespace meshwright::kernels::MESHWRIGHT_CPU_VARIANT
