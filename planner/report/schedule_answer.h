// AnswerSchedule() simulates one step of a layout's pipeline with the cost model's times, for a
// command and for a server.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "planner/catalog/plan_query.h"
#include "planner/layout/layout.h"
#include "planner/schedule/simulator.h"

namespace meshwright::planner {

// A step to simulate.
struct ScheduledStep {
  Layout layout;
  int32_t micro_batches = 0;
  PipelineTimes times;

  // Returns how many actions the simulation may have: at most three for each micro-batch and stage.
  // Counted in floating point, which does not overflow.
  double MostActions() const { return 3.0 * layout.pp * layout.vpp * micro_batches; }
};

struct ScheduleAnswer {
  Layout layout;
  int32_t micro_batches = 0;
  Timeline timeline;
  std::string svg = {};  // a picture of the step, if the caller has drawn one
};

// The most actions that are simulated.
inline constexpr int64_t kMostScheduledActions = 20'000'000;

// Returns the step of a layout in text form. A query without devices gets the layout's. Returns
// InvalidArgument, with the rule that it breaks, if the layout can't run, and every error of
// Resolve(). `host_cores` means the same as in FindCluster().
absl::StatusOr<ScheduledStep> ScheduledStepOf(PlanQuery query, std::string_view layout,
                                              int32_t host_cores);

// Returns InvalidArgument if the layout's schedule can't have the step's micro-batches, or the step
// may have more than `most_actions` actions, which can't be `done`: "simulated".
absl::Status CheckScheduledStep(const ScheduledStep& step, int64_t most_actions,
                                std::string_view done);

// Returns the simulated step. REQUIRES: CheckScheduledStep() accepts it.
absl::StatusOr<ScheduleAnswer> AnswerSchedule(const ScheduledStep& step);

}  // namespace meshwright::planner
