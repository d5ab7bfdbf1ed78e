#include "kernels/cuda/launch.cuh"

namespace meshwright::kernels::cuda {
namespace {

template <typename T>
__global__ void ForwardKernel(SwigluForward a) {
  using A = Accumulator<T>;
  const T* gate_up = static_cast<const T*>(a.gate_up);
  T* product = static_cast<T*>(a.product);
  for (int64_t i = GlobalThread(); i < a.rows * a.width; i += GridThreads()) {
    // gate_up has two widths a row.
    const int64_t gate_at = i + i / a.width * a.width;
    const A gate = Widen(gate_up[gate_at]);
    const A up = Widen(gate_up[gate_at + a.width]);
    Narrow(gate / (1 + FastExp(-gate)) * up, product[i]);
  }
}

template <typename T>
__global__ void BackwardKernel(SwigluBackward a) {
  using A = Accumulator<T>;
  const T* dproduct = static_cast<const T*>(a.dproduct);
  T* gate_up = static_cast<T*>(a.gate_up);
  for (int64_t i = GlobalThread(); i < a.rows * a.width; i += GridThreads()) {
    const int64_t gate_at = i + i / a.width * a.width;
    const A gate = Widen(gate_up[gate_at]);
    const A up = Widen(gate_up[gate_at + a.width]);
    const A d = Widen(dproduct[i]);
    const A sigmoid = 1 / (1 + FastExp(-gate));
    Narrow(d * up * sigmoid * (1 + gate * (1 - sigmoid)), gate_up[gate_at]);
    Narrow(d * gate * sigmoid, gate_up[gate_at + a.width]);
  }
}

}  // namespace

void Launch(const SwigluForward& args, cudaStream_t stream) {
  WithElement(args.type, [&](auto element) {
    ForwardKernel<decltype(element)>
        <<<BlocksFor(args.rows * args.width), kThreads, 0, stream>>>(args);
  });
  Check(cudaGetLastError());
}

void Launch(const SwigluBackward& args, cudaStream_t stream) {
  WithElement(args.type, [&](auto element) {
    BackwardKernel<decltype(element)>
        <<<BlocksFor(args.rows * args.width), kThreads, 0, stream>>>(args);
  });
  Check(cudaGetLastError());
}

}  // namespace meshwright::kernels::cuda
