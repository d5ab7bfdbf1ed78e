#include <type_traits>

#include "kernels/adamw_coefficients.h"
#include "kernels/cuda/launch.cuh"

namespace meshwright::kernels::cuda {
namespace {

template <typename T>
__global__ void UpdateKernel(AdamW a, AdamWCoefficients<Accumulator<T>> c) {
  using A = Accumulator<T>;
  constexpr bool kHasMaster = !std::is_same_v<T, A>;
  const A* gradients = static_cast<const A*>(a.gradient);
  A* first_moment = static_cast<A*>(a.first_moment);
  A* second_moment = static_cast<A*>(a.second_moment);
  A* full = static_cast<A*>(kHasMaster ? a.master : a.weights);
  for (int64_t i = GlobalThread(); i < a.count; i += GridThreads()) {
    const A gradient = gradients[i];
    const A m = c.beta1 * first_moment[i] + c.keep1 * gradient;
    const A v = c.beta2 * second_moment[i] + c.keep2 * gradient * gradient;
    first_moment[i] = m;
    second_moment[i] = v;
    const A weight = full[i] * c.decay - c.step_size * m / (sqrt(v) * c.inverse_root + c.epsilon);
    full[i] = weight;
    if constexpr (kHasMaster) Narrow(weight, static_cast<T*>(a.weights)[i]);
  }
}

}  // namespace

void Launch(const AdamW& args, cudaStream_t stream) {
  WithElement(args.type, [&](auto element) {
    using T = decltype(element);
    UpdateKernel<T><<<BlocksFor(args.count), kThreads, 0, stream>>>(
        args, CoefficientsOf<Accumulator<T>>(args));
  });
  Check(cudaGetLastError());
}

}  // namespace meshwright::kernels::cuda
