// ResidualKernel is the covariance of two layouts' residuals under ResidualPriors
// (planner/policy/residual_model.h describes its terms).
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include "planner/policy/residual_priors.h"

namespace meshwright::planner {

// Returns the share of the local part that two layouts have in common.
inline double NearShare(const ResidualPriors& priors, double squared_distance) {
  return std::exp(-0.5 * squared_distance / (priors.reach * priors.reach));
}

// Returns the covariance. `slope` is the dot product of the layouts' points, `near` is their
// NearShare(), and `factor` multiplies the deviations of slopes and of the local part.
inline double ResidualKernel(const ResidualPriors& priors, double factor, double slope,
                             double near) {
  const double axis = factor * priors.axis;
  const double local = factor * priors.near;
  return priors.common * priors.common + axis * axis * slope + local * local * near;
}

// Calls visit(factor, log of its weight before any measurement) for each value of the factor over
// which a posterior is averaged. A single result says nothing of how layouts differ, so the factor
// is 1 unless at least two are measured.
template <typename Visit>
void ForEachFactor(const ResidualPriors& priors, size_t measured, const Visit& visit) {
  if (measured < 2 || priors.factor <= 0.0) return visit(1.0, 0.0);
  for (const double step : {-2.0, -1.0, 0.0, 1.0, 2.0}) {
    visit(std::exp(step * priors.factor), -0.5 * step * step);
  }
}

// Turns the components' `weight`, which are logarithms up to a common constant, into weights that
// add up to 1. REQUIRES: there is a component.
template <typename Component>
void NormalizeLogWeights(std::vector<Component>& components) {
  double largest = components.front().weight;
  for (const Component& component : components) largest = std::max(largest, component.weight);
  double total = 0.0;
  for (Component& component : components) {
    total += component.weight = std::exp(component.weight - largest);
  }
  for (Component& component : components) component.weight /= total;
}

}  // namespace meshwright::planner
