#include "kernels/cpu/loops.h"

namespace meshwright::kernels::MESHWRIGHT_CPU_VARIANT {
namespace {

template <typename T>
void ForwardRow(const SwigluForward& a, int64_t row) {
  const T* gate = static_cast<const T*>(a.gate_up) + row * 2 * a.width;
  const T* up = gate + a.width;
  T* product = static_cast<T*>(a.product) + row * a.width;
#pragma omp simd
  for (int64_t i = 0; i < a.width; ++i) {
    const float g = ToFloat(gate[i]);
    FromFloat(g / (1.0f + FastExp(-g)) * ToFloat(up[i]), product[i]);
  }
}

template <typename T>
void BackwardRow(const SwigluBackward& a, int64_t row) {
  const T* dproduct = static_cast<const T*>(a.dproduct) + row * a.width;
  T* gate = static_cast<T*>(a.gate_up) + row * 2 * a.width;
  T* up = gate + a.width;
#pragma omp simd
  for (int64_t i = 0; i < a.width; ++i) {
    const float g = ToFloat(gate[i]);
    const float d = ToFloat(dproduct[i]);
    const float sigmoid = 1.0f / (1.0f + FastExp(-g));
    FromFloat(d * ToFloat(up[i]) * sigmoid * (1.0f + g * (1.0f - sigmoid)), gate[i]);
    FromFloat(d * g * sigmoid, up[i]);
  }
}

}  // namespace

void Run(const SwigluForward& args, const Parallel& parallel) {
  WithElement(args.type, [&](auto element) {
    ForRange(parallel, args.rows, args.width, [&](int64_t begin, int64_t end) {
      for (int64_t row = begin; row < end; ++row) ForwardRow<decltype(element)>(args, row);
    });
  });
}

void Run(const SwigluBackward& args, const Parallel& parallel) {
  WithElement(args.type, [&](auto element) {
    ForRange(parallel, args.rows, args.width, [&](int64_t begin, int64_t end) {
      for (int64_t row = begin; row < end; ++row) BackwardRow<decltype(element)>(args, row);
    });
  });
}

}  // namespace meshwright::kernels::MESHWRIGHT_CPU_VARIANT
