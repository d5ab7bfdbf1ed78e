// ExpectGradient() checks gradients of reference operators by finite differences in fp64.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <vector>

#include "kernels/kernels.h"

namespace meshwright::kernels {

using Values = std::vector<double>;

inline constexpr auto kFp64 = ElementType::kFp64;

// Returns reproducible numbers of both signs.
inline Values Numbers(size_t count, double phase) {
  Values values(count);
  for (size_t i = 0; i < count; ++i)
    values[i] = 1.5 * std::sin(2.3 * static_cast<double>(i) + phase);
  return values;
}

inline double Dot(const Values& a, const Values& b) {
  double sum = 0.0;
  for (size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

// Expects that `gradient` equals the central differences of `loss` at `x`.
inline void ExpectGradient(const Values& gradient, const Values& x,
                           const std::function<double(Values)>& loss) {
  constexpr double kStep = 1e-5;
  ASSERT_EQ(gradient.size(), x.size());
  for (size_t i = 0; i < x.size(); ++i) {
    Values above = x;
    Values below = x;
    above[i] += kStep;
    below[i] -= kStep;
    EXPECT_NEAR(gradient[i], (loss(above) - loss(below)) / (2.0 * kStep), 1e-9) << i;
  }
}

}  // namespace meshwright::kernels
