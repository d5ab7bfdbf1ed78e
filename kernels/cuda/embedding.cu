#include "kernels/cuda/launch.cuh"

namespace meshwright::kernels::cuda {
namespace {

template <typename T>
__global__ void ForwardKernel(EmbeddingForward a) {
  for (int64_t row = blockIdx.x; row < a.rows; row += gridDim.x) {
    const int64_t token = a.tokens[row] - a.vocab_begin;
    const bool here = token >= 0 && token < a.vocab_count;
    const T* from = static_cast<const T*>(a.table) + (here ? token : 0) * a.width;
    T* y = static_cast<T*>(a.y) + row * a.width;
    for (int64_t i = threadIdx.x; i < a.width; i += kThreads) y[i] = here ? from[i] : T{};
  }
}

// Rows may repeat a token, hence the atomic additions.
template <typename T>
__global__ void BackwardKernel(EmbeddingBackward a) {
  for (int64_t row = blockIdx.x; row < a.rows; row += gridDim.x) {
    const int64_t token = a.tokens[row] - a.vocab_begin;
    if (token < 0 || token >= a.vocab_count) continue;
    const T* dy = static_cast<const T*>(a.dy) + row * a.width;
    Accumulator<T>* gradient = static_cast<Accumulator<T>*>(a.table_gradient) + token * a.width;
    for (int64_t i = threadIdx.x; i < a.width; i += kThreads) {
      atomicAdd(gradient + i, Widen(dy[i]));
    }
  }
}

}  // namespace

void Launch(const EmbeddingForward& args, cudaStream_t stream) {
  WithElement(args.type, [&](auto element) {
    ForwardKernel<decltype(element)><<<BlocksForRows(args.rows), kThreads, 0, stream>>>(args);
  });
  Check(cudaGetLastError());
}

void Launch(const EmbeddingBackward& args, cudaStream_t stream) {
  WithElement(args.type, [&](auto element) {
    BackwardKernel<decltype(element)><<<BlocksForRows(args.rows), kThreads, 0, stream>>>(args);
  });
  Check(cudaGetLastError());
}

}  // namespace meshwright::kernels::cuda
