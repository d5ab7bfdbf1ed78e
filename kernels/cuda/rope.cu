#include "kernels/cuda/launch.cuh"
#include "kernels/cuda/row_pieces.cuh"

namespace meshwright::kernels::cuda {
namespace {

// A thread rotates a pack of pairs. A row's pieces are the packs of half of each head.
template <typename T, int kPack>
__global__ void TurnKernel(Rope a, RowPieces pieces, FastDivide seq_len, FastDivide half_packs) {
  using A = Accumulator<T>;
  RowPiece piece;
  if (!pieces.Find(blockIdx.y, blockIdx.x * kThreads + threadIdx.x, piece)) return;
  const int64_t packs = half_packs.divisor();
  const int64_t head = half_packs.Quotient(static_cast<uint32_t>(piece.piece));
  const int64_t at = piece.piece - head * packs;
  const int64_t angle = seq_len.Remainder(static_cast<uint32_t>(piece.row)) * packs + at;
  const auto cosine = Load<kPack>(static_cast<const A*>(a.cosine), angle);
  const auto sine = Load<kPack>(static_cast<const A*>(a.sine), angle);
  const T* x = static_cast<const T*>(a.x) + piece.row * a.x_stride + head * a.x_head_stride;
  T* y = static_cast<T*>(a.y) + piece.row * a.y_stride + head * a.y_head_stride;
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
      const int64_t half_packs = args.head_dim / 2 / pack();
      const RowPieces pieces(args.rows, args.heads * half_packs);
      Start(TurnKernel<T, pack()>, pieces.Grid(kThreads), 0, stream, args, pieces,
            FastDivide(args.seq_len), FastDivide(half_packs));
    });
  });
}

}  // namespace meshwright::kernels::cuda
