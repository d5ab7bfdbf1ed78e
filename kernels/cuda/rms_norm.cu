#include <algorithm>

#include "kernels/cuda/launch.cuh"

namespace meshwright::kernels::cuda {
namespace {

template <typename T>
__global__ void ForwardKernel(RmsNormForward a) {
  using A = Accumulator<T>;
  const T* weight = static_cast<const T*>(a.weight);
  for (int64_t row = blockIdx.x; row < a.rows; row += gridDim.x) {
    const T* x = static_cast<const T*>(a.x) + row * a.width;
    T* y = static_cast<T*>(a.y) + row * a.width;
    A squares = 0;
    for (int64_t i = threadIdx.x; i < a.width; i += kThreads) {
      const A value = Widen(x[i]);
      squares += value * value;
    }
    squares = BlockSum(squares);
    const A rstd = 1 / sqrt(squares / static_cast<A>(a.width) + static_cast<A>(a.epsilon));
    if (threadIdx.x == 0) static_cast<A*>(a.rstd)[row] = rstd;
    for (int64_t i = threadIdx.x; i < a.width; i += kThreads) {
      Narrow(Widen(x[i]) * rstd * Widen(weight[i]), y[i]);
    }
  }
}

// A thread has the same columns in every row of its block, so that it can add up their weight
// gradient without meeting other threads. `shared` has an accumulator for every column.
template <typename T>
__global__ void BackwardKernel(RmsNormBackward a) {
  using A = Accumulator<T>;
  extern __shared__ double shared[];
  A* sums = reinterpret_cast<A*>(shared);
  const T* weight = static_cast<const T*>(a.weight);
  for (int64_t i = threadIdx.x; i < a.width; i += kThreads) sums[i] = 0;
  for (int64_t row = blockIdx.x; row < a.rows; row += gridDim.x) {
    const T* dy = static_cast<const T*>(a.dy) + row * a.width;
    const T* x = static_cast<const T*>(a.x) + row * a.width;
    const A rstd = static_cast<const A*>(a.rstd)[row];
    A dot = 0;
    for (int64_t i = threadIdx.x; i < a.width; i += kThreads) {
      const A through = Widen(dy[i]) * Widen(x[i]);
      sums[i] += through * rstd;
      dot += through * Widen(weight[i]);
    }
    const A mean = BlockSum(dot) * rstd * rstd / static_cast<A>(a.width);
    const T* residual = a.residual_gradient == nullptr
                            ? nullptr
                            : static_cast<const T*>(a.residual_gradient) + row * a.width;
    T* dx = static_cast<T*>(a.dx) + row * a.width;
    for (int64_t i = threadIdx.x; i < a.width; i += kThreads) {
      const A through = rstd * (Widen(dy[i]) * Widen(weight[i]) - Widen(x[i]) * mean);
      Narrow(residual == nullptr ? through : Widen(residual[i]) + through, dx[i]);
    }
  }
  if (a.weight_gradient == nullptr) return;
  for (int64_t i = threadIdx.x; i < a.width; i += kThreads) {
    atomicAdd(static_cast<A*>(a.weight_gradient) + i, sums[i]);
  }
}

}  // namespace

void Launch(const RmsNormForward& args, cudaStream_t stream) {
  WithElement(args.type, [&](auto element) {
    ForwardKernel<decltype(element)><<<BlocksForRows(args.rows), kThreads, 0, stream>>>(args);
  });
  Check(cudaGetLastError());
}

void Launch(const RmsNormBackward& args, cudaStream_t stream) {
  // Few blocks, so that the sums of many rows meet before they go to memory.
  const unsigned int blocks = std::min(512u, BlocksForRows(args.rows));
  constexpr size_t kDefaultSharedBytes = 48 << 10;
  WithElement(args.type, [&](auto element) {
    const size_t shared = static_cast<size_t>(args.width) * sizeof(Accumulator<decltype(element)>);
    const auto kernel = BackwardKernel<decltype(element)>;
    if (shared > kDefaultSharedBytes) {
      Check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                 static_cast<int>(shared)));
    }
    kernel<<<blocks, kThreads, shared, stream>>>(args);
  });
  Check(cudaGetLastError());
}

}  // namespace meshwright::kernels::cuda
