// Computes the answer of `meshwright scale`, and of `meshwright recommend` for a range of numbers
// of devices: the gain from additional devices, in numbers and words.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "planner/catalog/plan_query.h"
#include "planner/report/rests_on.h"
#include "planner/scaling/budget.h"
#include "planner/scaling/scale_curve.h"

namespace meshwright::planner {

struct ScaleQuery {
  PlanQuery plan;  // `devices` is ignored
  DeviceRange devices;
  // If set, the batch grows with the number of devices (weak scaling). The plan's batch is then the
  // batch at the smallest size.
  bool weak = false;
  // If set, PointsForBudget() also tries sizes between the sizes of the range, and `weak` is
  // ignored.
  bool refine = false;
  Budget budget;
};

struct ScaleAnswer {
  std::vector<ScalePoint> points;
  std::vector<RunCost> costs;  // one for each point; zeros if the budget has no tokens
  BudgetAnswer answer;
  std::vector<std::string> sentences;  // findings about the points
  std::vector<std::string> notes;
  int64_t parameters = 0;  // parameters of the model
  RestsOn rests_on;

  bool any_fits() const { return answer.fewest_that_fit.has_value(); }
};

absl::StatusOr<ScaleAnswer> AnswerScale(const ScaleQuery& query, int32_t host_cores,
                                        SearchRun run = {}, const ScaleProgress& progress = {});

}  // namespace meshwright::planner
