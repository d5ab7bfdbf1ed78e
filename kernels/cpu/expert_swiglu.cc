#include "kernels/cpu/loops.h"

namespace meshwright::kernels::MESHWRIGHT_CPU_VARIANT {
namespace {

// Clamps operands; NaN stays NaN.
template <typename A>
struct Form {
  explicit Form(const SwigluForm& form)
      : limit(static_cast<A>(form.limit)),
        slope(static_cast<A>(form.slope)),
        offset(static_cast<A>(form.offset)) {}

  A Gate(A gate) const { return gate > limit ? limit : gate; }
  A Up(A up) const { return (up > limit ? limit : (up < -limit ? -limit : up)) + offset; }
  bool Cuts(A up) const { return up > limit || up < -limit; }

  A limit;
  A slope;
  A offset;
};

template <typename T>
void ForwardRow(const ExpertSwigluForward& a, int64_t row) {
  using A = Accumulator<T>;
  const T* gate = static_cast<const T*>(a.gate_up) + row * 2 * a.width;
  const T* up = gate + a.width;
  T* product = static_cast<T*>(a.product) + row * a.width;
  const A weight = static_cast<const A*>(a.weights)[row];
  const Form<A> form(a.form);
#pragma omp simd
  for (int64_t i = 0; i < a.width; ++i) {
    const A g = form.Gate(Widen(gate[i]));
    Narrow(g / (1 + FastExp(-form.slope * g)) * form.Up(Widen(up[i])) * weight, product[i]);
  }
}

template <typename T>
void BackwardRow(const ExpertSwigluBackward& a, int64_t row) {
  using A = Accumulator<T>;
  const T* dproduct = static_cast<const T*>(a.dproduct) + row * a.width;
  T* gate = static_cast<T*>(a.gate_up) + row * 2 * a.width;
  T* up = gate + a.width;
  A& weight = static_cast<A*>(a.weights)[row];
  const Form<A> form(a.form);
  A dweight = 0;
#pragma omp simd reduction(+ : dweight)
  for (int64_t i = 0; i < a.width; ++i) {
    const A whole_gate = Widen(gate[i]);
    const A whole_up = Widen(up[i]);
    const A g = form.Gate(whole_gate);
    const A u = form.Up(whole_up);
    const A d = Widen(dproduct[i]);
    const A sigmoid = 1 / (1 + FastExp(-form.slope * g));
    dweight += d * g * sigmoid * u;
    const A dgate = d * weight * u * sigmoid * (1 + form.slope * g * (1 - sigmoid));
    Narrow(whole_gate > form.limit ? A{0} : dgate, gate[i]);
    Narrow(form.Cuts(whole_up) ? A{0} : d * weight * g * sigmoid, up[i]);
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
