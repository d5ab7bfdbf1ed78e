// Answers how many devices a training run should take: the fewest that fit, the fewest that finish
// in time, and the cheapest number.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "planner/scaling/device_range.h"
#include "planner/scaling/scale_curve.h"

namespace meshwright::planner {

struct Budget {
  std::optional<double> tokens;                       // tokens of the whole run
  std::optional<double> within_s;                     // deadline in seconds; needs tokens
  std::optional<double> price_per_h;                  // price of one device-hour, in any currency
  std::optional<Objective> objective = std::nullopt;  // ranks the sizes
};

// Each of the three parsers returns InvalidArgument naming its flag, with what is accepted, if it
// can't parse the text.

// Returns a number of tokens, from a text such as "1T", "300B" or "15e12".
absl::StatusOr<double> ParseTokens(std::string_view text);
// Returns seconds, from a text such as "2w", "10d", "36h", "90m" or "30s".
absl::StatusOr<double> ParseDuration(std::string_view text);
// Returns the price of a device-hour, from a text such as "2.5/h" or "2.5".
absl::StatusOr<double> ParsePrice(std::string_view text);

// The cost of a run at one size.
struct RunCost {
  double seconds = 0.0;
  double device_hours = 0.0;
  double price = 0.0;   // 0 if the budget has no price
  double joules = 0.0;  // 0 if the cluster does not give its devices' power
};
// Returns the cost of a run at a point. Returns zeros if no layout fits there, or if the budget has
// no tokens.
RunCost CostOfRun(const ScalePoint& point, const Budget& budget);

// Each answer is an index into the list of points. An answer is not set if no point qualifies, or
// if the budget does not ask for that answer.
struct BudgetAnswer {
  std::optional<int64_t> fewest_that_fit;
  std::optional<int64_t> fewest_in_time;
  // The point with the fewest device-hours, which also has the lowest price. If the budget has a
  // deadline, only points that meet it qualify.
  std::optional<int64_t> cheapest;
  // The best point by the budget's objective. If the budget has a deadline, only points that meet
  // it qualify.
  std::optional<int64_t> best = std::nullopt;
};

// Returns InvalidArgument if the budget has a deadline or a price but no tokens.
absl::Status Validate(const Budget& budget);
// Returns the answers that the budget asks for.
// REQUIRES: points in ascending order of devices.
BudgetAnswer Answer(const std::vector<ScalePoint>& points, const Budget& budget);

// The maximum number of sizes that are tried between two consecutive sizes of a range.
inline constexpr int64_t kMostBetween = 15;

// Returns the points of the range's sizes under strong scaling, and of some sizes between them. Let
// A be the smallest size of the range that fits. A size between A and the size before it may fit as
// well, so evenly spread sizes of whole nodes between the two are tried in ascending order until
// one fits. The same is done for the smallest size that finishes in time. A size between two of the
// range is left out if no layout fits it. Returns errors of ScaleCurve() unchanged.
absl::StatusOr<std::vector<ScalePoint>> PointsForBudget(const SearchRequest& request,
                                                        const DeviceRange& range,
                                                        const Budget& budget,
                                                        const ScaleProgress& progress = {});

}  // namespace meshwright::planner
