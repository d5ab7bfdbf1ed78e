#include "kernels/cuda/launch.cuh"

namespace meshwright::kernels::cuda {
namespace {

constexpr int64_t kPartialSums = SumOfSquares::kPartialSums;

template <typename T>
__device__ double Square(T x) {
  const auto value = static_cast<double>(Widen(x));
  return value * value;
}

// One partial sum per block; their number is the same on every GPU and known to the compiler, which
// divides by it when it unrolls the loops.
template <typename T, int kPack>
__global__ void PartialKernel(SumOfSquares a) {
  const T* x = static_cast<const T*>(a.x);
  constexpr int64_t kGridThreads = kPartialSums * kThreads;
  const int64_t packs = a.count / kPack;
  double sum = 0.0;
  for (int64_t i = GlobalThread(); i < packs; i += kGridThreads) {
    const auto values = Load<kPack>(x, i);
    for (int k = 0; k < kPack; ++k) sum += Square(values.values[k]);
  }
  for (int64_t i = packs * kPack + GlobalThread(); i < a.count; i += kGridThreads) {
    sum += Square(x[i]);
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
    using T = decltype(element);
    WithPack<T>(Packs<T>(0, {args.x}),
                [&](auto pack) { Start(PartialKernel<T, pack()>, kPartialSums, 0, stream, args); });
  });
  Start(TotalKernel, 1, 0, stream, args);
}

}  // namespace meshwright::kernels::cuda
