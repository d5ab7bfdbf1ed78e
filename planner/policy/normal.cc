#include "planner/policy/normal.h"

#include <cmath>
#include <numbers>

namespace meshwright::planner {

double NormalDensity(double value) {
  return std::exp(-0.5 * value * value) * std::numbers::inv_sqrtpi / std::numbers::sqrt2;
}

double NormalShareBelow(double value) { return 0.5 * std::erfc(-value / std::numbers::sqrt2); }

double NormalQuantile(double share) {
  constexpr double kFurthest = 40.0;  // no share that a double can hold has its quantile beyond
  constexpr int kHalvings = 64;
  double low = -kFurthest;
  double high = kFurthest;
  for (int i = 0; i < kHalvings; ++i) {
    const double middle = 0.5 * (low + high);
    (NormalShareBelow(middle) < share ? low : high) = middle;
  }
  return 0.5 * (low + high);
}

}  // namespace meshwright::planner
