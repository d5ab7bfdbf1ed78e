#include "kernels/cuda/launch.cuh"

namespace meshwright::kernels::cuda {
namespace {

template <typename T, int kPack>
__device__ void AddPack(const Accumulate& a, int64_t i) {
  using A = Accumulator<T>;
  const auto source = Load<kPack>(static_cast<const T*>(a.source), i);
  auto target = Load<kPack>(static_cast<A*>(a.target), i);
  for (int k = 0; k < kPack; ++k) target.values[k] += Widen(source.values[k]);
  Store<kPack>(target, static_cast<A*>(a.target), i);
}

template <typename T, int kPack>
__global__ void AccumulateKernel(Accumulate a) {
  ForPackOfThread<kPack>(a.count, [&](auto pack, int64_t i) { AddPack<T, pack()>(a, i); });
}

}  // namespace

void Launch(const Accumulate& args, cudaStream_t stream) {
  WithElement(args.type, [&](auto element) {
    using T = decltype(element);
    // Packs are sized for the target.
    WithPack<Accumulator<T>>(Packs<T>(0, {args.source, args.target}), [&](auto pack) {
      Start(AccumulateKernel<T, pack()>, BlocksForPacks<pack()>(args.count), 0, stream, args);
    });
  });
}

}  // namespace meshwright::kernels::cuda
