#include "kernels/cuda/launch.cuh"

namespace meshwright::kernels::cuda {
namespace {

// One thread turns a pack of pairs.
template <typename T, int kPack>
__global__ void TurnKernel(Rope a) {
  using A = Accumulator<T>;
  const int64_t packs = a.head_dim / 2 / kPack;  // of half a head
  for (int64_t i = GlobalThread(); i < a.rows * a.heads * packs; i += GridThreads()) {
    const int64_t row = i / (a.heads * packs);
    const int64_t head = i / packs % a.heads;
    const int64_t at = i % packs;
    const int64_t angle = row % a.seq_len * packs + at;
    const auto cosine = Load<kPack>(static_cast<const A*>(a.cosine), angle);
    const auto sine = Load<kPack>(static_cast<const A*>(a.sine), angle);
    const T* x = static_cast<const T*>(a.x) + row * a.x_stride + head * a.x_head_stride;
    T* y = static_cast<T*>(a.y) + row * a.y_stride + head * a.y_head_stride;
    auto firsts = Load<kPack>(x, at);
    auto seconds = Load<kPack>(x, at + packs);
    for (int k = 0; k < kPack; ++k) {
      const A first = Widen(firsts.values[k]);
      const A second = Widen(seconds.values[k]);
      const A turn = a.inverse ? -sine.values[k] : sine.values[k];
      Narrow(first * cosine.values[k] - second * turn, firsts.values[k]);
      Narrow(second * cosine.values[k] + first * turn, seconds.values[k]);
    }
    Store<kPack>(firsts, y, at);
    Store<kPack>(seconds, y, at + packs);
  }
}

template <typename T>
bool RopePacks(const Rope& args) {
  const auto pieces = [&](int64_t length) {
    return Packs<T>(length, {args.x, args.y, args.cosine, args.sine});
  };
  return pieces(args.head_dim / 2) && pieces(args.x_stride) && pieces(args.x_head_stride) &&
         pieces(args.y_stride) && pieces(args.y_head_stride);
}

}  // namespace

void Launch(const Rope& args, cudaStream_t stream) {
  WithElement(args.type, [&](auto element) {
    using T = decltype(element);
    WithPack<T>(RopePacks<T>(args), [&](auto pack) {
      Start(TurnKernel<T, pack()>, BlocksFor(args.rows * args.heads * args.head_dim / 2 / pack()),
            0, stream, args);
    });
  });
}

}  // namespace meshwright::kernels::cuda
