#include "kernels/cuda/launch.cuh"

namespace meshwright::kernels::cuda {
namespace {

template <typename T, int kPack>
__global__ void ForwardKernel(EmbeddingForward a) {
  for (int64_t row = blockIdx.x; row < a.rows; row += gridDim.x) {
    const int64_t token = a.tokens[row] - a.vocab_begin;
    const bool here = token >= 0 && token < a.vocab_count;
    const T* from = static_cast<const T*>(a.table) + (here ? token : 0) * a.width;
    T* y = static_cast<T*>(a.y) + row * a.width;
    for (int64_t i = threadIdx.x; i < a.width / kPack; i += kThreads) {
      Store<kPack>(here ? Load<kPack>(from, i) : Pack<T, kPack>{}, y, i);
    }
  }
}

// Rows may repeat a token, hence the atomic additions.
template <typename T, int kPack>
__global__ void BackwardKernel(EmbeddingBackward a) {
  for (int64_t row = blockIdx.x; row < a.rows; row += gridDim.x) {
    const int64_t token = a.tokens[row] - a.vocab_begin;
    if (token < 0 || token >= a.vocab_count) continue;
    const T* dy_row = static_cast<const T*>(a.dy) + row * a.width;
    Accumulator<T>* gradient = static_cast<Accumulator<T>*>(a.table_gradient) + token * a.width;
    for (int64_t i = threadIdx.x; i < a.width / kPack; i += kThreads) {
      const auto dy = Load<kPack>(dy_row, i);
      for (int k = 0; k < kPack; ++k) atomicAdd(gradient + i * kPack + k, Widen(dy.values[k]));
    }
  }
}

}  // namespace

void Launch(const EmbeddingForward& args, cudaStream_t stream) {
  WithElement(args.type, [&](auto element) {
    using T = decltype(element);
    WithPack<T>(Packs<T>(args.width, {args.table, args.y}), [&](auto pack) {
      Start(ForwardKernel<T, pack()>, BlocksForRows(args.rows), 0, stream, args);
    });
  });
}

void Launch(const EmbeddingBackward& args, cudaStream_t stream) {
  WithElement(args.type, [&](auto element) {
    using T = decltype(element);
    WithPack<T>(Packs<T>(args.width, {args.dy}), [&](auto pack) {
      Start(BackwardKernel<T, pack()>, BlocksForRows(args.rows), 0, stream, args);
    });
  });
}

}  // namespace meshwright::kernels::cuda
