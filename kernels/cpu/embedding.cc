#include <cstring>

#include "kernels/cpu/loops.h"

namespace meshwright::kernels::MESHWRIGHT_CPU_VARIANT {
namespace {

template <typename T>
void ForwardRow(const EmbeddingForward& a, int64_t row) {
  const auto bytes = static_cast<size_t>(a.width) * sizeof(T);
  T* y = static_cast<T*>(a.y) + row * a.width;
  const int64_t token = a.tokens[row] - a.vocab_begin;
  if (token < 0 || token >= a.vocab_count) {
    std::memset(y, 0, bytes);
  } else {
    std::memcpy(y, static_cast<const T*>(a.table) + token * a.width, bytes);
  }
}

// Rows may repeat a token, so threads divide the columns.
template <typename T>
void BackwardColumns(const EmbeddingBackward& a, int64_t begin, int64_t end) {
  using A = Accumulator<T>;
  const T* dy = static_cast<const T*>(a.dy);
  for (int64_t row = 0; row < a.rows; ++row) {
    const int64_t token = a.tokens[row] - a.vocab_begin;
    if (token < 0 || token >= a.vocab_count) continue;
    A* gradient = static_cast<A*>(a.table_gradient) + token * a.width;
#pragma omp simd
    for (int64_t i = begin; i < end; ++i) gradient[i] += Widen(dy[row * a.width + i]);
  }
}

}  // namespace

void Run(const EmbeddingForward& args, const Parallel& parallel) {
  WithElement(args.type, [&](auto element) {
    ForRange(parallel, args.rows, args.width, [&](int64_t begin, int64_t end) {
      for (int64_t row = begin; row < end; ++row) ForwardRow<decltype(element)>(args, row);
    });
  });
}

void Run(const EmbeddingBackward& args, const Parallel& parallel) {
  WithElement(args.type, [&](auto element) {
    ForRange(parallel, args.width, args.rows, [&](int64_t begin, int64_t end) {
      BackwardColumns<decltype(element)>(args, begin, end);
    });
  });
}

}  // namespace meshwright::kernels::MESHWRIGHT_CPU_VARIANT
