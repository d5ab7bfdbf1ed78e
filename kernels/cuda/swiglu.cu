#include "kernels/cuda/launch.cuh"

namespace meshwright::kernels::cuda {
namespace {

// One thread takes a pack of a row at a time.
template <typename T, int kPack>
__global__ void ForwardKernel(SwigluForward a) {
  using A = Accumulator<T>;
  const int64_t packs = a.width / kPack;
  for (int64_t i = GlobalThread(); i < a.rows * packs; i += GridThreads()) {
    // gate_up has two widths a row.
    const int64_t gate_at = i + i / packs * packs;
    const auto gates = Load<kPack>(static_cast<const T*>(a.gate_up), gate_at);
    const auto ups = Load<kPack>(static_cast<const T*>(a.gate_up), gate_at + packs);
    Pack<T, kPack> product;
    for (int k = 0; k < kPack; ++k) {
      const A gate = Widen(gates.values[k]);
      Narrow(gate / (1 + FastExp(-gate)) * Widen(ups.values[k]), product.values[k]);
    }
    Store<kPack>(product, static_cast<T*>(a.product), i);
  }
}

template <typename T, int kPack>
__global__ void BackwardKernel(SwigluBackward a) {
  using A = Accumulator<T>;
  T* gate_up = static_cast<T*>(a.gate_up);
  const int64_t packs = a.width / kPack;
  for (int64_t i = GlobalThread(); i < a.rows * packs; i += GridThreads()) {
    const int64_t gate_at = i + i / packs * packs;
    auto gates = Load<kPack>(gate_up, gate_at);
    auto ups = Load<kPack>(gate_up, gate_at + packs);
    const auto dproduct = Load<kPack>(static_cast<const T*>(a.dproduct), i);
    for (int k = 0; k < kPack; ++k) {
      const A gate = Widen(gates.values[k]);
      const A up = Widen(ups.values[k]);
      const A d = Widen(dproduct.values[k]);
      const A sigmoid = 1 / (1 + FastExp(-gate));
      Narrow(d * up * sigmoid * (1 + gate * (1 - sigmoid)), gates.values[k]);
      Narrow(d * gate * sigmoid, ups.values[k]);
    }
    Store<kPack>(gates, gate_up, gate_at);
    Store<kPack>(ups, gate_up, gate_at + packs);
  }
}

}  // namespace

void Launch(const SwigluForward& args, cudaStream_t stream) {
  WithElement(args.type, [&](auto element) {
    using T = decltype(element);
    WithPack<T>(Packs<T>(args.width, {args.gate_up, args.product}), [&](auto pack) {
      Start(ForwardKernel<T, pack()>, BlocksFor(args.rows * args.width / pack()), 0, stream, args);
    });
  });
}

void Launch(const SwigluBackward& args, cudaStream_t stream) {
  WithElement(args.type, [&](auto element) {
    using T = decltype(element);
    WithPack<T>(Packs<T>(args.width, {args.gate_up, args.dproduct}), [&](auto pack) {
      Start(BackwardKernel<T, pack()>, BlocksFor(args.rows * args.width / pack()), 0, stream, args);
    });
  });
}

}  // namespace meshwright::kernels::cuda
