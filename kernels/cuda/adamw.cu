#include "kernels/adamw_coefficients.h"
#include "kernels/cuda/launch.cuh"

namespace meshwright::kernels::cuda {
namespace {

// Updates element or pack `i` of every array.
template <typename T, int kPack>
__device__ void UpdatePack(const AdamW& a, const AdamWCoefficients<Accumulator<T>>& c, int64_t i) {
  using A = Accumulator<T>;
  constexpr bool kHasMaster = !std::is_same_v<T, A>;
  A* full = static_cast<A*>(kHasMaster ? a.master : a.weights);
  const auto gradient = Load<kPack>(static_cast<const A*>(a.gradient), i);
  auto m = Load<kPack>(static_cast<A*>(a.first_moment), i);
  auto v = Load<kPack>(static_cast<A*>(a.second_moment), i);
  auto weight = Load<kPack>(full, i);
  for (int k = 0; k < kPack; ++k) {
    const A g = gradient.values[k];
    m.values[k] = c.beta1 * m.values[k] + c.keep1 * g;
    v.values[k] = c.beta2 * v.values[k] + c.keep2 * g * g;
    weight.values[k] = weight.values[k] * c.decay -
                       c.step_size * m.values[k] / (sqrt(v.values[k]) * c.inverse_root + c.epsilon);
  }
  Store<kPack>(m, static_cast<A*>(a.first_moment), i);
  Store<kPack>(v, static_cast<A*>(a.second_moment), i);
  Store<kPack>(weight, full, i);
  if constexpr (kHasMaster) {
    Pack<T, kPack> rounded;
    for (int k = 0; k < kPack; ++k) Narrow(weight.values[k], rounded.values[k]);
    Store<kPack>(rounded, static_cast<T*>(a.weights), i);
  }
}

template <typename T, int kPack>
__global__ void UpdateKernel(AdamW a, AdamWCoefficients<Accumulator<T>> c) {
  ForPackOfThread<kPack>(a.count, [&](auto pack, int64_t i) { UpdatePack<T, pack()>(a, c, i); });
}

}  // namespace

void Launch(const AdamW& args, cudaStream_t stream) {
  WithElement(args.type, [&](auto element) {
    using T = decltype(element);
    // Packs are sized for the states.
    const bool packs = Packs<T>(
        0, {args.gradient, args.first_moment, args.second_moment, args.master, args.weights});
    WithPack<Accumulator<T>>(packs, [&](auto pack) {
      Start(UpdateKernel<T, pack()>, BlocksForPacks<pack()>(args.count), 0, stream, args,
            CoefficientsOf<Accumulator<T>>(args));
    });
  });
}

}  // namespace meshwright::kernels::cuda
