#include "kernels/cpu/loops.h"

namespace meshwright::kernels::MESHWRIGHT_CPU_VARIANT {
namespace {

template <typename T>
void ForwardRow(const ExpertSwigluForward& a, int64_t row) {
  using A = Accumulator<T>;
  const T* gate = static_cast<const T*>(a.gate_up) + row * 2 * a.width;
  const T* up = gate + a.width;
  T* product = static_cast<T*>(a.product) + row * a.width;
  const A weight = static_cast<const A*>(a.weights)[row];
#pragma omp simd
  for (int64_t i = 0; i < a.width; ++i) {
    const A g = Widen(gate[i]);
    Narrow(g / (1 + FastExp(-g)) * Widen(up[i]) * weight, product[i]);
  }
}

template <typename T>
void BackwardRow(const ExpertSwigluBackward& a, int64_t row) {
  using A = Accumulator<T>;
  const T* dproduct = static_cast<const T*>(a.dproduct) + row * a.width;
  T* gate = static_cast<T*>(a.gate_up) + row * 2 * a.width;
  T* up = gate + a.width;
  A& weight = static_cast<A*>(a.weights)[row];
  A dweight = 0;
#pragma omp simd reduction(+ : dweight)
  for (int64_t i = 0; i < a.width; ++i) {
    const A g = Widen(gate[i]);
    const A u = Widen(up[i]);
    const A d = Widen(dproduct[i]);
    const A sigmoid = 1 / (1 + FastExp(-g));
    dweight += d * g * sigmoid * u;
    Narrow(d * weight * u * sigmoid * (1 + g * (1 - sigmoid)), gate[i]);
    Narrow(d * weight * g * sigmoid, up[i]);
  }
  weight = dweight;
}

}  // namespace

void Run(const ExpertSwigluForward& args, const Parallel& parallel) {
  WithElement(args.type, [&](auto element) {
    ForRange(parallel, args.rows, args.width, [&](int64_t begin, int64_t end) {
      for (int64_t row = begin; row < end; ++row) ForwardRow<decltype(element)>(args, row);
    });
  });
}

void Run(const ExpertSwigluBackward& args, const Parallel& parallel) {
  WithElement(args.type, [&](auto element) {
    ForRange(parallel, args.rows, args.width, [&](int64_t begin, int64_t end) {
      for (int64_t row = begin; row < end; ++row) BackwardRow<decltype(element)>(args, row);
    });
  });
}

}  // namespace meshwright::kernels::MESHWRIGHT_CPU_VARIANT
