#include "kernels/cuda/launch.cuh"

namespace meshwright::kernels::cuda {
namespace {

// To the accuracy that kernels/cuda/swiglu.cu names.
template <typename A>
__device__ A Sigmoid(A x) {
  return FastReciprocal(1 + FastExp(-x));
}

// A block takes one row at a time.
template <typename T, int kPack>
__global__ void ForwardKernel(ExpertSwigluForward a) {
  using A = Accumulator<T>;
  for (int64_t row = blockIdx.x; row < a.rows; row += gridDim.x) {
    const T* gate_up = static_cast<const T*>(a.gate_up) + row * 2 * a.width;
    T* to = static_cast<T*>(a.product) + row * a.width;
    const A weight = static_cast<const A*>(a.weights)[row];
    for (int64_t i = threadIdx.x; i < a.width / kPack; i += kThreads) {
      const auto gates = Load<kPack>(gate_up, i);
      const auto ups = Load<kPack>(gate_up + a.width, i);
      Pack<T, kPack> product;
      for (int k = 0; k < kPack; ++k) {
        const A gate = Widen(gates.values[k]);
        Narrow(gate * Sigmoid(gate) * Widen(ups.values[k]) * weight, product.values[k]);
      }
      Store<kPack>(product, to, i);
    }
  }
}

template <typename T, int kPack>
__global__ void BackwardKernel(ExpertSwigluBackward a) {
  using A = Accumulator<T>;
  for (int64_t row = blockIdx.x; row < a.rows; row += gridDim.x) {
    T* gate_up = static_cast<T*>(a.gate_up) + row * 2 * a.width;
    const T* from = static_cast<const T*>(a.dproduct) + row * a.width;
    A& weight = static_cast<A*>(a.weights)[row];
    const A row_weight = weight;
    A dweight = 0;
    for (int64_t i = threadIdx.x; i < a.width / kPack; i += kThreads) {
      auto gates = Load<kPack>(gate_up, i);
      auto ups = Load<kPack>(gate_up + a.width, i);
      const auto dproduct = Load<kPack>(from, i);
      for (int k = 0; k < kPack; ++k) {
        const A gate = Widen(gates.values[k]);
        const A up = Widen(ups.values[k]);
        const A d = Widen(dproduct.values[k]);
        const A sigmoid = Sigmoid(gate);
        dweight += d * gate * sigmoid * up;
        Narrow(d * row_weight * up * sigmoid * (1 + gate * (1 - sigmoid)), gates.values[k]);
        Narrow(d * row_weight * gate * sigmoid, ups.values[k]);
      }
      Store<kPack>(gates, gate_up, i);
      Store<kPack>(ups, gate_up + a.width, i);
    }
    // All threads have read the weight when the sum is there.
    dweight = BlockSum(dweight);
    if (threadIdx.x == 0) weight = dweight;
  }
}

}  // namespace

void Launch(const ExpertSwigluForward& args, cudaStream_t stream) {
  WithElement(args.type, [&](auto element) {
    using T = decltype(element);
    WithPack<T>(Packs<T>(args.width, {args.gate_up, args.product}), [&](auto pack) {
      Start(ForwardKernel<T, pack()>, BlocksForRows(args.rows), 0, stream, args);
    });
  });
}

void Launch(const ExpertSwigluBackward& args, cudaStream_t stream) {
  WithElement(args.type, [&](auto element) {
    using T = decltype(element);
    WithPack<T>(Packs<T>(args.width, {args.gate_up, args.dproduct}), [&](auto pack) {
      Start(BackwardKernel<T, pack()>, BlocksForRows(args.rows), 0, stream, args);
    });
  });
}

}  // namespace meshwright::kernels::cuda
