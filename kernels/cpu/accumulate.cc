#include "kernels/cpu/loops.h"

namespace meshwright::kernels::MESHWRIGHT_CPU_VARIANT {

void Run(const Accumulate& args, const Parallel& parallel) {
  WithElement(args.type, [&](auto element) {
    const auto* source = static_cast<const decltype(element)*>(args.source);
    ForRange(parallel, args.count, 1, [&](int64_t begin, int64_t end) {
#pragma omp simd
      for (int64_t i = begin; i < end; ++i) args.target[i] += ToFloat(source[i]);
    });
  });
}

}  // namespace meshwright::kernels::MESHWRIGHT_CPU_VARIANT
