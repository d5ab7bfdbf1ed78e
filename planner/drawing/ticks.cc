#include "planner/drawing/ticks.h"

#include <cmath>
#include <cstdint>

#include "absl/strings/str_format.h"
#include "base/text/amounts.h"

namespace meshwright::planner {
namespace {

// Ends of an axis are the results of sums, so a mark at an end may miss it by rounding.
constexpr double kRounding = 1e-9;
// Whole numbers of this size are written in full, with commas.
constexpr double kLeastGrouped = 1e3;
constexpr double kMostGrouped = 1e15;

std::vector<double> MultiplesOf(double step, double low, double high) {
  std::vector<double> multiples;
  const double slack = kRounding * step;
  for (double i = std::ceil((low - slack) / step); i * step <= high + slack; i += 1.0) {
    multiples.push_back(i * step + 0.0);  // not -0
  }
  return multiples;
}

}  // namespace

std::vector<double> LinearTicks(double low, double high, int most) {
  if (!std::isfinite(low) || !std::isfinite(high) || !(low < high) || most < 1) return {};
  double power = std::pow(10.0, std::floor(std::log10((high - low) / most)));
  while (true) {
    for (const double digit : {1.0, 2.0, 5.0}) {
      const double step = digit * power;
      if ((high - low) / step > most + 1.0) continue;
      std::vector<double> ticks = MultiplesOf(step, low, high);
      if (ticks.size() <= static_cast<size_t>(most)) return ticks;
    }
    power *= 10.0;
  }
}

std::vector<double> LogTicks(double low, double high) {
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
  return ticks;
}

std::string TickText(double value) {
  const double size = std::abs(value);
  if (size >= kLeastGrouped && size < kMostGrouped && std::round(value) == value) {
    return Grouped(std::llround(value));
  }
  return absl::StrFormat("%.6g", value);
}

}  // namespace meshwright::planner
