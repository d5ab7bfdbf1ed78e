#include <cmath>

#include "kernels/cpu/loops.h"

namespace meshwright::kernels::MESHWRIGHT_CPU_VARIANT {
namespace {

// The normal distribution at x: distribution function and density.
template <typename A>
struct Normal {
  A below;
  A density;
};

// Abramowitz and Stegun 7.1.26: the distribution function is within 1e-7, and loops over it
// vectorise.
inline Normal<float> NormalAt(float x) {
  const float size = x < 0.0f ? -x : x;
  const float exp = FastExp(-0.5f * x * x);
  const float t = 1.0f / (1.0f + 0.231641888f * size);  // 0.3275911 / sqrt(2)
  float p = 1.061405429f;
  p = p * t - 1.453152027f;
  p = p * t + 1.421413741f;
  p = p * t - 0.284496736f;
  p = p * t + 0.254829592f;
  const float tail = 0.5f * p * t * exp;
  return {x < 0.0f ? tail : 1.0f - tail, 0.398942280f * exp};
}

inline Normal<double> NormalAt(double x) {
  return {0.5 * std::erfc(-0.70710678118654752440 * x),
          0.39894228040143267794 * FastExp(-0.5 * x * x)};
}

struct Gelu {
  template <typename A>
  static A Of(A x) {
    return x * NormalAt(x).below;
  }
  template <typename A>
  static A Gradient(A x, A d) {
    const Normal<A> normal = NormalAt(x);
    return d * (normal.below + x * normal.density);
  }
};

struct Relu {
  template <typename A>
  static A Of(A x) {
    return x > 0 ? x : 0;
  }
  template <typename A>
  static A Gradient(A x, A d) {
    return x > 0 ? d : 0;
  }
};

template <typename F>
void WithActivation(Activation activation, const F& body) {
  if (activation == Activation::kGelu) return body(Gelu());
  body(Relu());
}

}  // namespace

void Run(const ActivationForward& args, const Parallel& parallel) {
  WithElement(args.type, [&](auto element) {
    using T = decltype(element);
    WithActivation(args.activation, [&](auto activation) {
      ForRange(parallel, args.count, 1, [&](int64_t begin, int64_t end) {
        const T* up = static_cast<const T*>(args.up);
        T* product = static_cast<T*>(args.product);
#pragma omp simd
        for (int64_t i = begin; i < end; ++i) Narrow(activation.Of(Widen(up[i])), product[i]);
      });
    });
  });
}

void Run(const ActivationBackward& args, const Parallel& parallel) {
  WithElement(args.type, [&](auto element) {
    using T = decltype(element);
    WithActivation(args.activation, [&](auto activation) {
      ForRange(parallel, args.count, 1, [&](int64_t begin, int64_t end) {
        const T* up = static_cast<const T*>(args.up);
        const T* dproduct = static_cast<const T*>(args.dproduct);
        T* gradient = static_cast<T*>(args.gradient);
#pragma omp simd
        for (int64_t i = begin; i < end; ++i) {
          Narrow(activation.Gradient(Widen(up[i]), Widen(dproduct[i])), gradient[i]);
        }
      });
    });
  });
}

}  // namespace meshwright::kernels::MESHWRIGHT_CPU_VARIANT
