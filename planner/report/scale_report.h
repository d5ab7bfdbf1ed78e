// The answer of `meshwright scale`, and of `meshwright recommend` for a range of sizes: what more
// devices return, in numbers and words.
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
  // Weak scaling if set: the plan's batch is that of the smallest size.
  bool weak = false;
  // Also tries sizes between those of the range where the budget's answer may be one of them.
  // Strong scaling alone.
  bool refine = false;
  Budget budget;
};

struct ScaleAnswer {
  std::vector<ScalePoint> points;
  std::vector<RunCost> costs;  // of each point; 0 without tokens in the budget
  BudgetAnswer answer;
  std::vector<std::string> sentences;  // findings about the points
  std::vector<std::string> notes;
  int64_t parameters = 0;  // of the model
  RestsOn rests_on;

  bool any_fits() const { return answer.fewest_that_fit.has_value(); }
};

absl::StatusOr<ScaleAnswer> AnswerScale(const ScaleQuery& query, int32_t host_cores,
                                        SearchRun run = {}, const ScaleProgress& progress = {});

}  // namespace meshwright::planner
