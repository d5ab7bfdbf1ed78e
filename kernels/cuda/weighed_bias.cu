#include "kernels/cuda/launch.cuh"

namespace meshwright::kernels::cuda {
namespace {

// A block takes one row at a time.
template <typename T, int kPack>
__global__ void BiasKernel(WeighedBias a) {
  using A = Accumulator<T>;
  const T* bias = static_cast<const T*>(a.bias);
  for (int64_t row = blockIdx.x; row < a.rows; row += gridDim.x) {
    const A weight = static_cast<const A*>(a.weights)[row];
    T* y = static_cast<T*>(a.y) + row * a.width;
    for (int64_t i = threadIdx.x; i < a.width / kPack; i += kThreads) {
      const auto biases = Load<kPack>(bias, i);
      auto sums = Load<kPack>(y, i);
      for (int k = 0; k < kPack; ++k) {
        Narrow(Widen(sums.values[k]) + weight * Widen(biases.values[k]), sums.values[k]);
      }
      Store<kPack>(sums, y, i);
    }
  }
}

// One warp per row, so that rows don't wait for each other.
template <typename T, int kPack>
__global__ void WeightsKernel(WeighedBiasBackward a) {
  using A = Accumulator<T>;
  const int64_t row = GlobalThread() / kWarp;
  const int lane = threadIdx.x % kWarp;
  if (row >= a.rows) return;
  const T* bias = static_cast<const T*>(a.bias);
  const T* dy = static_cast<const T*>(a.dy) + row * a.width;
  A dot = 0;
  for (int64_t i = lane; i < a.width / kPack; i += kWarp) {
    const auto biases = Load<kPack>(bias, i);
    const auto gradients = Load<kPack>(dy, i);
    for (int k = 0; k < kPack; ++k) dot += Widen(gradients.values[k]) * Widen(biases.values[k]);
  }
  dot = WarpSum(dot);
  if (lane == 0) static_cast<A*>(a.dweights)[row] += dot;
}

}  // namespace

void Launch(const WeighedBias& args, cudaStream_t stream) {
  WithElement(args.type, [&](auto element) {
    using T = decltype(element);
    WithPack<T>(Packs<T>(args.width, {args.bias, args.y}), [&](auto pack) {
      Start(BiasKernel<T, pack()>, BlocksForRows(args.rows), 0, stream, args);
    });
  });
}

void Launch(const WeighedBiasBackward& args, cudaStream_t stream) {
  WithElement(args.type, [&](auto element) {
    using T = decltype(element);
    WithPack<T>(Packs<T>(args.width, {args.bias, args.dy}), [&](auto pack) {
      Start(WeightsKernel<T, pack()>, BlocksToCover(args.rows * kWarp), 0, stream, args);
    });
  });
}

}  // namespace meshwright::kernels::cuda
