#include "kernels/cuda/column_sums.cuh"

namespace meshwright::kernels::cuda {
namespace {

template <typename T>
__global__ void BiasKernel(BiasGradient a, RowGroups groups) {
  using A = Accumulator<T>;
  ForColumnOfThread(a.rows, a.width, groups, [&](int64_t column, int64_t first, int64_t end) {
    const T* dy = static_cast<const T*>(a.dy) + column;
    const A* weights = static_cast<const A*>(a.weights);
    A sum = 0;
    for (int64_t row = first; row < end; ++row) {
      sum += (weights == nullptr ? A{1} : weights[row]) * Widen(dy[row * a.width]);
    }
    atomicAdd(static_cast<A*>(a.bias_gradient) + column, sum);
  });
}

}  // namespace

void Launch(const BiasGradient& args, cudaStream_t stream) {
  const RowGroups groups(args.rows, args.width);
  WithElement(args.type, [&](auto element) {
    Start(BiasKernel<decltype(element)>, groups.Grid(), 0, stream, args, groups);
  });
}

}  // namespace meshwright::kernels::cuda
