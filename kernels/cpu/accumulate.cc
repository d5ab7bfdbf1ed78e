#include "kernels/cpu/loops.h"

namespace meshwright::kernels::MESHWRIGHT_CPU_VARIANT {

void Run(const Accumulate& args, const Parallel& parallel) {
  WithElement(args.type, [&](auto element) {
    using T = decltype(element);
    const T* source = static_cast<const T*>(args.source);
    Accumulator<T>* target = static_cast<Accumulator<T>*>(args.target);
    ForRange(parallel, args.count, 1, [&](int64_t begin, int64_t end) {
#pragma omp simd
      for (int64_t i = begin; i < end; ++i) target[i] += Widen(source[i]);
    });
  });
}

}  // namespace meshwright::kernels::MESHWRIGHT_CPU_VARIANT
