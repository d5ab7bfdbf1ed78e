#include "kernels/cuda/launch.cuh"

namespace meshwright::kernels::cuda {
namespace {

// One thread turns one pair.
template <typename T>
__global__ void TurnKernel(Rope a) {
  using A = Accumulator<T>;
  const int64_t half = a.head_dim / 2;
  for (int64_t i = GlobalThread(); i < a.rows * a.heads * half; i += GridThreads()) {
    const int64_t row = i / (a.heads * half);
    const int64_t head = i / half % a.heads;
    const int64_t pair = i % half;
    const int64_t angle = row % a.seq_len * half + pair;
    const A cosine = static_cast<const A*>(a.cosine)[angle];
    const A sine = static_cast<const A*>(a.sine)[angle] * (a.inverse ? -1 : 1);
    const T* x = static_cast<const T*>(a.x) + row * a.x_stride + head * a.x_head_stride;
    T* y = static_cast<T*>(a.y) + row * a.y_stride + head * a.y_head_stride;
    const A first = Widen(x[pair]);
    const A second = Widen(x[pair + half]);
    Narrow(first * cosine - second * sine, y[pair]);
    Narrow(second * cosine + first * sine, y[pair + half]);
  }
}

}  // namespace

void Launch(const Rope& args, cudaStream_t stream) {
  WithElement(args.type, [&](auto element) {
    TurnKernel<decltype(element)>
        <<<BlocksFor(args.rows * args.heads * args.head_dim / 2), kThreads, 0, stream>>>(args);
  });
  Check(cudaGetLastError());
}

}  // namespace meshwright::kernels::cuda
