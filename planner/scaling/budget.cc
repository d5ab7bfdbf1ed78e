#include "planner/scaling/budget.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "base/text/field_error.h"
#include "base/text/status_macros.h"
#include "base/text/string_view.h"

namespace meshwright::planner {
namespace {

constexpr double kHour = 3600.0;

using Unit = std::pair<char, double>;

constexpr std::array<Unit, 4> kCounts = {{{'K', 1e3}, {'M', 1e6}, {'B', 1e9}, {'T', 1e12}}};
constexpr std::array<Unit, 5> kTimes = {
    {{'s', 1.0}, {'m', 60.0}, {'h', kHour}, {'d', 24.0 * kHour}, {'w', 168.0 * kHour}}};

// Returns a positive number times the value of the unit after it.
template <size_t kUnits>
std::optional<double> WithUnit(absl::string_view text, const std::array<Unit, kUnits>& units,
                               bool needs_unit) {
  double factor = 1.0;
  bool has_unit = false;
  for (const auto& [letter, value] : units) {
    if (text.empty() || text.back() != letter) continue;
    factor = value;
    has_unit = true;
    text.remove_suffix(1);
    break;
  }
  double number = 0.0;
  if ((needs_unit && !has_unit) || !absl::SimpleAtod(text, &number)) return std::nullopt;
  const double value = number * factor;
  return value > 0.0 && value < 1e30 ? std::optional(value) : std::nullopt;
}

// Returns whole nodes above `low` and below `high`.
std::vector<int64_t> SizesBetween(int64_t low, int64_t high, int64_t devices_per_node) {
  const int64_t nodes = (high - low) / devices_per_node;
  const int64_t step =
      devices_per_node * std::max<int64_t>(1, (nodes + kMostBetween) / (kMostBetween + 1));
  std::vector<int64_t> sizes;
  for (int64_t size = low + step; size < high; size += step) {
    if (size % devices_per_node == 0) sizes.push_back(size);
  }
  return sizes;
}

}  // namespace

absl::StatusOr<double> ParseTokens(std::string_view text) {
  if (const auto tokens = WithUnit(AbslView(text), kCounts, /*needs_unit=*/false)) return *tokens;
  return FieldError("tokens", text, "must be above 0, such as 300B, 1T or 15e12");
}

absl::StatusOr<double> ParseDuration(std::string_view text) {
  if (const auto seconds = WithUnit(AbslView(text), kTimes, /*needs_unit=*/true)) return *seconds;
  return FieldError("within", text, "must be above 0 with a unit, such as 36h, 10d or 2w");
}

absl::StatusOr<double> ParsePrice(std::string_view text) {
  double price = 0.0;
  if (absl::SimpleAtod(absl::StripSuffix(AbslView(text), "/h"), &price) && price > 0.0 &&
      price < 1e9) {
    return price;
  }
  return FieldError("price", text, "must be the price of a device-hour above 0, such as 2.5/h");
}

RunCost CostOfRun(const ScalePoint& point, const Budget& budget) {
  RunCost cost;
  if (!point.best || !budget.tokens) return cost;
  cost.seconds = *budget.tokens / point.best->estimate.tokens_per_s;
  cost.device_hours = cost.seconds / kHour * static_cast<double>(point.devices);
  cost.price = cost.device_hours * budget.price_per_h.value_or(0.0);
  cost.joules = cost.seconds * point.energy.all_w;
  return cost;
}

absl::Status Validate(const Budget& budget) {
  if (budget.tokens) return absl::OkStatus();
  if (budget.within_s) {
    return FieldError("within", std::to_string(*budget.within_s) + " s",
                      "needs --tokens, the number of tokens to train on");
  }
  if (budget.price_per_h) {
    return FieldError("price", std::to_string(*budget.price_per_h),
                      "needs --tokens, the number of tokens to train on");
  }
  return absl::OkStatus();
}

BudgetAnswer Answer(const std::vector<ScalePoint>& points, const Budget& budget) {
  BudgetAnswer answer;
  double least_hours = 0.0;
  double best_score = 0.0;
  for (int64_t i = 0; i < static_cast<int64_t>(points.size()); ++i) {
    const ScalePoint& point = points[static_cast<size_t>(i)];
    if (!point.best) continue;
    if (!answer.fewest_that_fit) answer.fewest_that_fit = i;
    const RunCost cost = CostOfRun(point, budget);
    if (budget.within_s && cost.seconds > *budget.within_s) continue;
    if (budget.objective) {
      const double score = ScoreOf(*budget.objective, point.best->estimate);
      if (!answer.best || score > best_score) {
        answer.best = i;
        best_score = score;
      }
    }
    if (!budget.tokens) continue;
    if (budget.within_s && !answer.fewest_in_time) answer.fewest_in_time = i;
    if (!answer.cheapest || cost.device_hours < least_hours) {
      answer.cheapest = i;
      least_hours = cost.device_hours;
    }
  }
  return answer;
}

absl::StatusOr<std::vector<ScalePoint>> PointsForBudget(const SearchRequest& request,
                                                        const DeviceRange& range,
                                                        const Budget& budget,
                                                        const ScaleProgress& progress) {
  ASSIGN_OR_RETURN(std::vector<ScalePoint> points,
                   ScaleCurve(request, range.Sizes(), ScalingMode::kStrong, progress));
  for (const auto place : {&BudgetAnswer::fewest_that_fit, &BudgetAnswer::fewest_in_time}) {
    const std::optional<int64_t> found = Answer(points, budget).*place;
    if (!found || *found == 0) continue;
    const int64_t most = points[static_cast<size_t>(*found)].devices;
    for (const int64_t size : SizesBetween(points[static_cast<size_t>(*found) - 1].devices, most,
                                           request.cluster.devices_per_node)) {
      ASSIGN_OR_RETURN(std::vector<ScalePoint> one,
                       ScaleCurve(request, {size}, ScalingMode::kStrong, progress));
      if (!one.front().best) continue;
      const auto at = std::find_if(points.begin(), points.end(), [size](const ScalePoint& point) {
        return point.devices > size;
      });
      points.insert(at, std::move(one.front()));
      const std::optional<int64_t> now = Answer(points, budget).*place;
      if (now && points[static_cast<size_t>(*now)].devices < most) break;
    }
  }
  CompareEach(points);
  return points;
}

}  // namespace meshwright::planner
