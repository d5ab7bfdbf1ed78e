#include "planner/drawing/ticks.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "absl/strings/str_format.h"
#include "base/text/amounts.h"

namespace meshwright::planner {
namespace {

// Ends of an axis are the results of sums, so a mark at an end may miss it by rounding.
constexpr double kRounding = 1e-9;
// An axis that is shorter, relative to its ends, has no marks that doubles can tell apart.
constexpr double kLeastExtent = 1e-9;
// Whole numbers of this size are written in full, with commas.
constexpr double kLeastGrouped = 1e3;
constexpr double kMostGrouped = 1e15;

// Returns the multiples of `step` in [low, high], or the first `most` + 1 of them.
std::vector<double> MultiplesOf(double step, double low, double high, int most) {
  std::vector<double> multiples;
  const double slack = kRounding * step;
  const double first = std::ceil((low - slack) / step);
  for (int i = 0; i <= most && (first + i) * step <= high + slack; ++i) {
    multiples.push_back((first + i) * step + 0.0);  // not -0
  }
  return multiples;
}

}  // namespace

std::vector<double> LinearTicks(double low, double high, int most) {
  if (!std::isfinite(low) || !std::isfinite(high) || most < 1) return {};
  if (!(high - low > kLeastExtent * std::max(std::abs(low), std::abs(high)))) return {};
  const double first = std::floor(std::log10((high - low) / most));
  for (double exponent = first; exponent < first + 3.0; exponent += 1.0) {
    for (const double digit : {1.0, 2.0, 5.0}) {
      const double step = digit * std::pow(10.0, exponent);
      std::vector<double> ticks = MultiplesOf(step, low, high, most);
      if (ticks.size() <= static_cast<size_t>(most)) return ticks;
    }
  }
  return {};
}

std::vector<double> LogTicks(double low, double high) {
  if (!(low > 0.0) || !(low <= high) || !std::isfinite(high)) return {};
  const double decades = std::log10(high / low);
  std::vector<double> digits = {1.0, 2.0, 5.0};
  if (decades > 3.0) digits = {1.0};
  if (decades < 1.2) digits = {1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0};
  std::vector<double> ticks;
  for (double decade = std::floor(std::log10(low)); std::pow(10.0, decade) <= high; decade += 1.0) {
    for (const double digit : digits) {
      const double value = digit * std::pow(10.0, decade);
      if (value >= low * (1.0 - kRounding) && value <= high * (1.0 + kRounding)) {
        ticks.push_back(value);
      }
    }
  }
  constexpr int kMostInPart = 5;  // of an axis that is a small part of a decade
  return ticks.size() < 2 ? LinearTicks(low, high, kMostInPart) : ticks;
}

std::string TickText(double value) {
  const double size = std::abs(value);
  if (size >= kLeastGrouped && size < kMostGrouped && std::round(value) == value) {
    return Grouped(std::llround(value));
  }
  return absl::StrFormat("%.6g", value);
}

}  // namespace meshwright::planner
