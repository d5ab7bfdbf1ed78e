#include "kernels/cuda/launch.cuh"

namespace meshwright::kernels::cuda {
namespace {

// Accurate as documented in kernels/cuda/swiglu.cu.
template <typename A>
__device__ A Sigmoid(A x) {
  return FastReciprocal(1 + FastExp(-x));
}

// Clamps operands; NaN stays NaN.
template <typename A>
struct Form {
  __device__ explicit Form(const SwigluForm& form)
      : limit(static_cast<A>(form.limit)),
        slope(static_cast<A>(form.slope)),
        offset(static_cast<A>(form.offset)) {}

  __device__ A Gate(A gate) const { return gate > limit ? limit : gate; }
  __device__ A Up(A up) const {
    return (up > limit ? limit : (up < -limit ? -limit : up)) + offset;
  }
  __device__ bool Cuts(A up) const { return up > limit || up < -limit; }

  A limit;
  A slope;
  A offset;
};

// A block takes one row at a time.
template <typename T, int kPack>
__global__ void ForwardKernel(ExpertSwigluForward a) {
  using A = Accumulator<T>;
  const Form<A> form(a.form);
  for (int64_t row = blockIdx.x; row < a.rows; row += gridDim.x) {
    const T* gate_up = static_cast<const T*>(a.gate_up) + row * 2 * a.width;
    T* to = static_cast<T*>(a.product) + row * a.width;
    const A weight = static_cast<const A*>(a.weights)[row];
    for (int64_t i = threadIdx.x; i < a.width / kPack; i += kThreads) {
      const auto gates = Load<kPack>(gate_up, i);
      const auto ups = Load<kPack>(gate_up + a.width, i);
      Pack<T, kPack> product;
      for (int k = 0; k < kPack; ++k) {
        const A gate = form.Gate(Widen(gates.values[k]));
        const A up = form.Up(Widen(ups.values[k]));
        Narrow(gate * Sigmoid(form.slope * gate) * up * weight, product.values[k]);
      }
      Store<kPack>(product, to, i);
    }
  }
}

template <typename T, int kPack>
__global__ void BackwardKernel(ExpertSwigluBackward a) {
  using A = Accumulator<T>;
  const Form<A> form(a.form);
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
        const A whole_gate = Widen(gates.values[k]);
        const A whole_up = Widen(ups.values[k]);
        const A gate = form.Gate(whole_gate);
        const A up = form.Up(whole_up);
        const A d = Widen(dproduct.values[k]);
        const A sigmoid = Sigmoid(form.slope * gate);
        dweight += d * gate * sigmoid * up;
        const A dgate = d * row_weight * up * sigmoid * (1 + form.slope * gate * (1 - sigmoid));
        Narrow(whole_gate > form.limit ? A{0} : dgate, gates.values[k]);
        Narrow(form.Cuts(whole_up) ? A{0} : d * row_weight * gate * sigmoid, ups.values[k]);
      }
      Store<kPack>(gates, gate_up, i);
      Store<kPack>(ups, gate_up + a.width, i);
    }
    // All threads have read the weight once the sum is available.
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
