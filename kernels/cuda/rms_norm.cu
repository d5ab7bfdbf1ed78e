#include <algorithm>

#include "kernels/cuda/launch.cuh"

namespace meshwright::kernels::cuda {
namespace {

template <typename T>
__global__ void ForwardKernel(RmsNormForward a) {
  const T* weight = static_cast<const T*>(a.weight);
  for (int64_t row = blockIdx.x; row < a.rows; row += gridDim.x) {
    const T* x = static_cast<const T*>(a.x) + row * a.width;
    T* y = static_cast<T*>(a.y) + row * a.width;
    float squares = 0.0f;
    for (int64_t i = threadIdx.x; i < a.width; i += kThreads) {
      const float value = ToFloat(x[i]);
      squares += value * value;
    }
    squares = BlockSum(squares);
    const float rstd = 1.0f / sqrtf(squares / static_cast<float>(a.width) + a.epsilon);
    if (threadIdx.x == 0) a.rstd[row] = rstd;
    for (int64_t i = threadIdx.x; i < a.width; i += kThreads) {
      FromFloat(ToFloat(x[i]) * rstd * ToFloat(weight[i]), y[i]);
    }
  }
}

// A thread has the same columns in every row of its block, so that it can add up their weight
// gradient without meeting other threads. `sums` has a float for every column.
template <typename T>
__global__ void BackwardKernel(RmsNormBackward a) {
  extern __shared__ float sums[];
  const T* weight = static_cast<const T*>(a.weight);
  for (int64_t i = threadIdx.x; i < a.width; i += kThreads) sums[i] = 0.0f;
  for (int64_t row = blockIdx.x; row < a.rows; row += gridDim.x) {
    const T* dy = static_cast<const T*>(a.dy) + row * a.width;
    const T* x = static_cast<const T*>(a.x) + row * a.width;
    const float rstd = a.rstd[row];
    float dot = 0.0f;
    for (int64_t i = threadIdx.x; i < a.width; i += kThreads) {
      const float through = ToFloat(dy[i]) * ToFloat(x[i]);
      sums[i] += through * rstd;
      dot += through * ToFloat(weight[i]);
    }
    const float mean = BlockSum(dot) * rstd * rstd / static_cast<float>(a.width);
    const T* residual = a.residual_gradient == nullptr
                            ? nullptr
                            : static_cast<const T*>(a.residual_gradient) + row * a.width;
    T* dx = static_cast<T*>(a.dx) + row * a.width;
    for (int64_t i = threadIdx.x; i < a.width; i += kThreads) {
      const float through = rstd * (ToFloat(dy[i]) * ToFloat(weight[i]) - ToFloat(x[i]) * mean);
      FromFloat(residual == nullptr ? through : ToFloat(residual[i]) + through, dx[i]);
    }
  }
  if (a.weight_gradient == nullptr) return;
  for (int64_t i = threadIdx.x; i < a.width; i += kThreads) {
    atomicAdd(a.weight_gradient + i, sums[i]);
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
  const size_t shared = static_cast<size_t>(args.width) * sizeof(float);
  WithElement(args.type, [&](auto element) {
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
