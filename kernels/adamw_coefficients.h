// The part of an AdamW update that is the same for every element.
#pragma once

#include <cmath>

#include "kernels/operators.h"

namespace meshwright::kernels {

struct AdamWCoefficients {
  float step_size;     // learning rate over the first moment's bias correction
  float inverse_root;  // 1 / sqrt of the second moment's bias correction
  float decay;         // what the weight is multiplied with first
};

// Static: see kernels/element.h.
[[maybe_unused]] static inline AdamWCoefficients CoefficientsOf(const AdamW& a) {
  const auto step = static_cast<double>(a.step);
  const double correction1 = 1.0 - std::pow(static_cast<double>(a.beta1), step);
  const double correction2 = 1.0 - std::pow(static_cast<double>(a.beta2), step);
  return {static_cast<float>(static_cast<double>(a.learning_rate) / correction1),
          static_cast<float>(1.0 / std::sqrt(correction2)),
          1.0f - a.learning_rate * a.weight_decay};
}

}  // namespace meshwright::kernels
