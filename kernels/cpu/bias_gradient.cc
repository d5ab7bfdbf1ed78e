#include "kernels/cpu/norm_rows.h"

namespace meshwright::kernels::MESHWRIGHT_CPU_VARIANT {

void Run(const BiasGradient& args, const Parallel& parallel) {
  WithElement(args.type, [&](auto element) {
    using T = decltype(element);
    using A = Accumulator<T>;
    RowGroups<A>(args.rows, args.width, static_cast<A*>(args.bias_gradient))
        .Run(parallel, [&](int64_t row, A* sums) {
          const T* dy = static_cast<const T*>(args.dy) + row * args.width;
          const A weight =
              args.weights == nullptr ? A{1} : static_cast<const A*>(args.weights)[row];
#pragma omp simd
          for (int64_t i = 0; i < args.width; ++i) sums[i] += weight * Widen(dy[i]);
        });
  });
}

}  // namespace meshwright::kernels::MESHWRIGHT_CPU_VARIANT
