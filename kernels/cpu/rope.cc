#include "kernels/cpu/loops.h"

namespace meshwright::kernels::MESHWRIGHT_CPU_VARIANT {
namespace {

template <typename T>
void TurnRow(const Rope& a, int64_t row) {
  using A = Accumulator<T>;
  const int64_t half = a.head_dim / 2;
  const A* cosine = static_cast<const A*>(a.cosine) + row % a.seq_len * half;
  const A* sine = static_cast<const A*>(a.sine) + row % a.seq_len * half;
  const A sign = a.inverse ? -1 : 1;
  for (int64_t head = 0; head < a.heads; ++head) {
    const T* x = static_cast<const T*>(a.x) + row * a.x_stride + head * a.x_head_stride;
    T* y = static_cast<T*>(a.y) + row * a.y_stride + head * a.y_head_stride;
#pragma omp simd
    for (int64_t i = 0; i < half; ++i) {
      const A first = Widen(x[i]);
      const A second = Widen(x[i + half]);
      const A turn = sign * sine[i];
      Narrow(first * cosine[i] - second * turn, y[i]);
      Narrow(second * cosine[i] + first * turn, y[i + half]);
    }
  }
}

}  // namespace

void Run(const Rope& args, const Parallel& parallel) {
  WithElement(args.type, [&](auto element) {
    ForRange(parallel, args.rows, args.heads * args.head_dim, [&](int64_t begin, int64_t end) {
      for (int64_t row = begin; row < end; ++row) TurnRow<decltype(element)>(args, row);
    });
  });
}

}  // namespace meshwright::kernels::MESHWRIGHT_CPU_VARIANT
