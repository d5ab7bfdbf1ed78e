#include "kernels/cuda/launch.cuh"

namespace meshwright::kernels::cuda {
namespace {

template <typename T>
__global__ void AccumulateKernel(Accumulate a) {
  const T* source = static_cast<const T*>(a.source);
  Accumulator<T>* target = static_cast<Accumulator<T>*>(a.target);
  for (int64_t i = GlobalThread(); i < a.count; i += GridThreads()) {
    target[i] += Widen(source[i]);
  }
}

}  // namespace

void Launch(const Accumulate& args, cudaStream_t stream) {
  WithElement(args.type, [&](auto element) {
    AccumulateKernel<decltype(element)><<<BlocksFor(args.count), kThreads, 0, stream>>>(args);
  });
  Check(cudaGetLastError());
}

}  // namespace meshwright::kernels::cuda
