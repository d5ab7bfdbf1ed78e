// Computes the coefficients of an AdamW update that are the same for every element.
#pragma once

#include <cmath>

#include "kernels/operators.h"

namespace meshwright::kernels {

// A is the type in which the update is computed.
template <typename A>
struct AdamWCoefficients {
  A beta1;
  A keep1;  // 1 - beta1
  A beta2;
  A keep2;
  A epsilon;
  A step_size;     // learning rate / bias correction of the first moment
  A inverse_root;  // 1 / sqrt of the second moment's bias correction
  A decay;         // factor on the weight before the update
};

// Returns the coefficients of the update `a`. Static, as explained in kernels/element.h.
template <typename A>
[[maybe_unused]] static inline AdamWCoefficients<A> CoefficientsOf(const AdamW& a) {
  const auto step = static_cast<double>(a.step);
  const double correction1 = 1.0 - std::pow(a.beta1, step);
  const double correction2 = 1.0 - std::pow(a.beta2, step);
  return {.beta1 = static_cast<A>(a.beta1),
          .keep1 = static_cast<A>(1.0 - a.beta1),
          .beta2 = static_cast<A>(a.beta2),
          .keep2 = static_cast<A>(1.0 - a.beta2),
          .epsilon = static_cast<A>(a.epsilon),
          .step_size = static_cast<A>(a.learning_rate / correction1),
          .inverse_root = static_cast<A>(1.0 / std::sqrt(correction2)),
          .decay = static_cast<A>(1.0 - a.learning_rate * a.weight_decay)};
}

}  // namespace meshwright::kernels
