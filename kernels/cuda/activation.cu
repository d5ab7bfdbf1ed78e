#include "kernels/cuda/launch.cuh"

namespace meshwright::kernels::cuda {
namespace {

struct Gelu {
  // The normal distribution function.
  template <typename A>
  __device__ static A Below(A x) {
    return static_cast<A>(0.5) * erfc(static_cast<A>(-0.70710678118654752440) * x);
  }
  template <typename A>
  __device__ static A Of(A x) {
    return x * Below(x);
  }
  template <typename A>
  __device__ static A Gradient(A x, A d) {
    const A density =
        static_cast<A>(0.39894228040143267794) * FastExp(static_cast<A>(-0.5) * x * x);
    return d * (Below(x) + x * density);
  }
};

struct Relu {
  template <typename A>
  __device__ static A Of(A x) {
    return x > 0 ? x : 0;
  }
  template <typename A>
  __device__ static A Gradient(A x, A d) {
    return x > 0 ? d : 0;
  }
};

template <typename F, typename T, int kPack>
__device__ void ForwardPack(const ActivationForward& a, int64_t i) {
  auto values = Load<kPack>(static_cast<const T*>(a.up), i);
  for (int k = 0; k < kPack; ++k) Narrow(F::Of(Widen(values.values[k])), values.values[k]);
  Store<kPack>(values, static_cast<T*>(a.product), i);
}

template <typename F, typename T, int kPack>
__global__ void ForwardKernel(ActivationForward a) {
  ForPackOfThread<kPack>(a.count, [&](auto pack, int64_t i) { ForwardPack<F, T, pack()>(a, i); });
}

template <typename F, typename T, int kPack>
__device__ void BackwardPack(const ActivationBackward& a, int64_t i) {
  auto values = Load<kPack>(static_cast<const T*>(a.up), i);
  const auto dproduct = Load<kPack>(static_cast<const T*>(a.dproduct), i);
  for (int k = 0; k < kPack; ++k) {
    Narrow(F::Gradient(Widen(values.values[k]), Widen(dproduct.values[k])), values.values[k]);
  }
  Store<kPack>(values, static_cast<T*>(a.gradient), i);
}

template <typename F, typename T, int kPack>
__global__ void BackwardKernel(ActivationBackward a) {
  ForPackOfThread<kPack>(a.count, [&](auto pack, int64_t i) { BackwardPack<F, T, pack()>(a, i); });
}

template <typename Body>
void WithActivation(Activation activation, const Body& body) {
  if (activation == Activation::kGelu) return body(Gelu());
  body(Relu());
}

}  // namespace

void Launch(const ActivationForward& args, cudaStream_t stream) {
  WithElement(args.type, [&](auto element) {
    using T = decltype(element);
    WithActivation(args.activation, [&](auto activation) {
      using F = decltype(activation);
      WithPack<T>(Packs<T>(0, {args.up, args.product}), [&](auto pack) {
        Start(ForwardKernel<F, T, pack()>, BlocksForPacks<pack()>(args.count), 0, stream, args);
      });
    });
  });
}

void Launch(const ActivationBackward& args, cudaStream_t stream) {
  WithElement(args.type, [&](auto element) {
    using T = decltype(element);
    WithActivation(args.activation, [&](auto activation) {
      using F = decltype(activation);
      WithPack<T>(Packs<T>(0, {args.up, args.dproduct, args.gradient}), [&](auto pack) {
        Start(BackwardKernel<F, T, pack()>, BlocksForPacks<pack()>(args.count), 0, stream, args);
      });
    });
  });
}

}  // namespace meshwright::kernels::cuda
