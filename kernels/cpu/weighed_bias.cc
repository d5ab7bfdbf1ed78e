#include "kernels/cpu/loops.h"

namespace meshwright::kernels::MESHWRIGHT_CPU_VARIANT {

void Run(const WeighedBias& args, const Parallel& parallel) {
  WithElement(args.type, [&](auto element) {
    using T = decltype(element);
    using A = Accumulator<T>;
    const T* bias = static_cast<const T*>(args.bias);
    ForRange(parallel, args.rows, args.width, [&](int64_t begin, int64_t end) {
      for (int64_t row = begin; row < end; ++row) {
        const A weight = static_cast<const A*>(args.weights)[row];
        T* y = static_cast<T*>(args.y) + row * args.width;
#pragma omp simd
        for (int64_t i = 0; i < args.width; ++i)
          Narrow(Widen(y[i]) + weight * Widen(bias[i]), y[i]);
      }
    });
  });
}

void Run(const WeighedBiasBackward& args, const Parallel& parallel) {
  WithElement(args.type, [&](auto element) {
    using T = decltype(element);
    using A = Accumulator<T>;
    const T* bias = static_cast<const T*>(args.bias);
    ForRange(parallel, args.rows, args.width, [&](int64_t begin, int64_t end) {
      for (int64_t row = begin; row < end; ++row) {
        const T* dy = static_cast<const T*>(args.dy) + row * args.width;
        A dot = 0;
#pragma omp simd reduction(+ : dot)
        for (int64_t i = 0; i < args.width; ++i) dot += Widen(dy[i]) * Widen(bias[i]);
        static_cast<A*>(args.dweights)[row] += dot;
      }
    });
  });
}

}  // namespace meshwright::kernels::MESHWRIGHT_CPU_VARIANT
