// Answers which number of devices a training run should take: the fewest that fit, the fewest that
// finish in time, and the cheapest.
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
  std::optional<double> tokens;                       // of the whole run
  std::optional<double> within_s;                     // deadline in seconds; needs tokens
  std::optional<double> price_per_h;                  // of one device, in any currency
  std::optional<Objective> objective = std::nullopt;  // ranks the sizes
};

// Parse "1T", "300B", "15e12" (tokens), "10d", "36h", "2w", "90m", "30s" (seconds) and "2.5/h"
// (price of a device-hour; the "/h" may be left out). InvalidArgument about the flag says what is
// accepted.
absl::StatusOr<double> ParseTokens(std::string_view text);
absl::StatusOr<double> ParseDuration(std::string_view text);
absl::StatusOr<double> ParsePrice(std::string_view text);

// The cost of a run at one size.
struct RunCost {
  double seconds = 0.0;
  double device_hours = 0.0;
  double price = 0.0;   // 0 without a price
  double joules = 0.0;  // 0 where the cluster does not give its devices' power
};
RunCost CostOfRun(const ScalePoint& point, const Budget& budget);

// Indices into the list of points; not set where no point answers the question, or where the budget
// does not ask it.
struct BudgetAnswer {
  std::optional<int64_t> fewest_that_fit;
  std::optional<int64_t> fewest_in_time;
  std::optional<int64_t> cheapest;  // by price where there is one, else by device-hours; among
                                    // those in time where that is asked
  std::optional<int64_t> best = std::nullopt;  // by the budget's objective; in time where asked
};

// InvalidArgument where the budget has a deadline or a price without tokens.
absl::Status Validate(const Budget& budget);
BudgetAnswer Answer(const std::vector<ScalePoint>& points, const Budget& budget);

// Returns the points of the range's sizes under strong scaling, and of sizes between two of them
// where the larger is the fewest that fit or that finish in time. The sizes in between are whole
// nodes, at most kMostBetween of them evenly spread, up to the first that does as well; those
// without a layout are left out. Errors as ScaleCurve().
inline constexpr int64_t kMostBetween = 15;
absl::StatusOr<std::vector<ScalePoint>> PointsForBudget(const SearchRequest& request,
                                                        const DeviceRange& range,
                                                        const Budget& budget,
                                                        const ScaleProgress& progress = {});

}  // namespace meshwright::planner
