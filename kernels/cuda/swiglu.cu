#include "kernels/cuda/launch.cuh"
#include "kernels/cuda/row_pieces.cuh"

namespace meshwright::kernels::cuda {
namespace {

// In fp32 within 5 + 1.2 |x| ulp: by the tables of the CUDA programming guide __expf is within 2 +
// 1.2 |x| ulp, which count only by its term's share of the sum, and the division is within 2. That
// is far below a bf16 rounding (2^15 ulp). For x < -87 the reciprocal is 0, an error of 1e-38; no x
// leads to NaN or infinity.
template <typename A>
__device__ A Sigmoid(A x) {
  return FastReciprocal(1 + FastExp(-x));
}

// A thread takes a pack of a row.
template <typename T, int kPack>
__global__ void ForwardKernel(SwigluForward a, RowPieces pieces) {
  using A = Accumulator<T>;
  RowPiece at;
  if (!pieces.Find(blockIdx.y, blockIdx.x * kThreads + threadIdx.x, at)) return;
  const T* gate_up = static_cast<const T*>(a.gate_up) + at.row * 2 * a.width;
  const auto gates = Load<kPack>(gate_up, at.piece);
  const auto ups = Load<kPack>(gate_up + a.width, at.piece);
  Pack<T, kPack> product;
  for (int k = 0; k < kPack; ++k) {
    const A gate = Widen(gates.values[k]);
    Narrow(gate * Sigmoid(gate) * Widen(ups.values[k]), product.values[k]);
  }
  Store<kPack>(product, static_cast<T*>(a.product) + at.row * a.width, at.piece);
}

template <typename T, int kPack>
__global__ void BackwardKernel(SwigluBackward a, RowPieces pieces) {
  using A = Accumulator<T>;
  RowPiece at;
  if (!pieces.Find(blockIdx.y, blockIdx.x * kThreads + threadIdx.x, at)) return;
  T* gate_up = static_cast<T*>(a.gate_up) + at.row * 2 * a.width;
  auto gates = Load<kPack>(gate_up, at.piece);
  auto ups = Load<kPack>(gate_up + a.width, at.piece);
  const auto dproduct = Load<kPack>(static_cast<const T*>(a.dproduct) + at.row * a.width, at.piece);
  for (int k = 0; k < kPack; ++k) {
    const A gate = Widen(gates.values[k]);
    const A up = Widen(ups.values[k]);
    const A d = Widen(dproduct.values[k]);
    const A sigmoid = Sigmoid(gate);
    Narrow(d * up * sigmoid * (1 + gate * (1 - sigmoid)), gates.values[k]);
    Narrow(d * gate * sigmoid, ups.values[k]);
  }
  Store<kPack>(gates, gate_up, at.piece);
  Store<kPack>(ups, gate_up + a.width, at.piece);
}

}  // namespace

void Launch(const SwigluForward& args, cudaStream_t stream) {
  WithElement(args.type, [&](auto element) {
    using T = decltype(element);
    WithPack<T>(Packs<T>(args.width, {args.gate_up, args.product}), [&](auto pack) {
      const RowPieces pieces(args.rows, args.width / pack());
      Start(ForwardKernel<T, pack()>, pieces.Grid(kThreads), 0, stream, args, pieces);
    });
  });
}

void Launch(const SwigluBackward& args, cudaStream_t stream) {
  WithElement(args.type, [&](auto element) {
    using T = decltype(element);
    WithPack<T>(Packs<T>(args.width, {args.gate_up, args.dproduct}), [&](auto pack) {
      const RowPieces pieces(args.rows, args.width / pack());
      Start(BackwardKernel<T, pack()>, pieces.Grid(kThreads), 0, stream, args, pieces);
    });
  });
}

}  // namespace meshwright::kernels::cuda
