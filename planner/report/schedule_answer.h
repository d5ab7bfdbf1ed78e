// AnswerSchedule() simulates one step of a layout's pipeline, with times from the cost model, for a
// command or for a server.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "planner/catalog/plan_query.h"
#include "planner/layout/layout.h"
#include "planner/report/layer_kinds.h"
#include "planner/schedule/simulator.h"

namespace meshwright::planner {

// A step to simulate.
struct ScheduledStep {
  Layout layout;
  int32_t micro_batches = 0;
  PipelineTimes times;
  std::vector<LayerKind> layer_kinds = {};  // empty if the step is not one of a model

  // Returns an upper bound on the number of actions in the simulation: three for each micro-batch
  // and stage. The number is a double, because an integer could overflow.
  double MostActions() const { return 3.0 * layout.pp * layout.vpp * micro_batches; }
};

struct ScheduleAnswer {
  Layout layout;
  int32_t micro_batches = 0;
  Timeline timeline;
  std::vector<LayerKind> layer_kinds = {};  // empty if the step is not one of a model
  std::string svg = {};                     // a picture of the step, if the caller has drawn one
};

// The most actions that are simulated.
inline constexpr int64_t kMostScheduledActions = 20'000'000;

// Returns the step of a layout in text form. If the query does not give the devices, it gets those
// of the layout. If the layout can't run, returns InvalidArgument with the rule that the layout
// breaks. Returns every error of Resolve() as it is. `host_cores` means the same as in
// FindCluster().
absl::StatusOr<ScheduledStep> ScheduledStepOf(PlanQuery query, std::string_view layout,
                                              int32_t host_cores);

// Returns InvalidArgument if (1) the layout's schedule can't run the step's number of
// micro-batches, or (2) the step may have more than `most_actions` actions. The message for (2)
// says that at most so many can be `done`, such as "simulated".
absl::Status CheckScheduledStep(const ScheduledStep& step, int64_t most_actions,
                                std::string_view done);

// Returns the simulated step. REQUIRES: CheckScheduledStep() accepts it.
absl::StatusOr<ScheduleAnswer> AnswerSchedule(const ScheduledStep& step);

}  // namespace meshwright::planner
