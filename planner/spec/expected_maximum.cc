#include "planner/spec/expected_maximum.h"

#include <cmath>

namespace meshwright::planner {
namespace {

// Upper quantile of the standard normal: P(Z > z) = tail, by the rational approximation 26.2.23 of
// Abramowitz and Stegun (error below 4.5e-4).
double UpperQuantile(double tail) {
  const double t = std::sqrt(-2.0 * std::log(tail));
  const double numerator = 2.515517 + t * (0.802853 + t * 0.010328);
  const double denominator = 1.0 + t * (1.432788 + t * (0.189269 + t * 0.001308));
  return t - numerator / denominator;
}

}  // namespace

double ExpectedMaximum(int64_t n) {
  if (n <= 1) return 0.0;
  const auto count = static_cast<double>(n);
  return UpperQuantile(0.625 / (count + 0.25));
}

}  // namespace meshwright::planner
