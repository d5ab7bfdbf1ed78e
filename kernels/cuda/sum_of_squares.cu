#include "kernels/cuda/launch.cuh"

namespace meshwright::kernels::cuda {
namespace {

constexpr int64_t kPartialSums = SumOfSquares::kPartialSums;

// One partial sum for each block; their number is the same on every device.
template <typename T>
__global__ void PartialKernel(SumOfSquares a) {
  const T* x = static_cast<const T*>(a.x);
  double sum = 0.0;
  for (int64_t i = GlobalThread(); i < a.count; i += GridThreads()) {
    const auto value = static_cast<double>(Widen(x[i]));
    sum += value * value;
  }
  sum = BlockSum(sum);
  if (threadIdx.x == 0) a.partial_sums[blockIdx.x] = sum;
}

__global__ void TotalKernel(SumOfSquares a) {
  double sum = 0.0;
  for (int64_t i = threadIdx.x; i < kPartialSums; i += kThreads) sum += a.partial_sums[i];
  sum = BlockSum(sum);
  if (threadIdx.x == 0) *a.sum += sum;
}

}  // namespace

void Launch(const SumOfSquares& args, cudaStream_t stream) {
  WithElement(args.type, [&](auto element) {
    PartialKernel<decltype(element)><<<kPartialSums, kThreads, 0, stream>>>(args);
  });
  TotalKernel<<<1, kThreads, 0, stream>>>(args);
  Check(cudaGetLastError());
}

}  // namespace meshwright::kernels::cuda
