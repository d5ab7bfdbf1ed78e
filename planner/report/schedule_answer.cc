#include "planner/report/schedule_answer.h"

#include <utility>

#include "absl/strings/str_format.h"
#include "base/text/field_error.h"
#include "base/text/status_macros.h"
#include "base/text/string_view.h"
#include "planner/cost/stage_time.h"
#include "planner/profile/context.h"
#include "planner/schedule/placement.h"
#include "planner/search/search.h"

namespace meshwright::planner {

absl::StatusOr<ScheduledStep> ScheduledStepOf(PlanQuery query, std::string_view layout,
                                              int32_t host_cores) {
  ScheduledStep step;
  ASSIGN_OR_RETURN(step.layout, ParseLayout(layout));
  if (query.devices == 0) query.devices = step.layout.devices();
  ASSIGN_OR_RETURN(const SearchRequest request, Resolve(query, host_cores));
  // Refuses a layout that breaks a rule, with the reason.
  RETURN_IF_ERROR(CheckAndEstimate(request, step.layout).status());
  step.micro_batches =
      static_cast<int32_t>(step.layout.MicroBatches(request.training.global_batch));
  const EstimateContext context = ContextOf(request);
  step.times.stages = StageDurationsOf(context, step.layout);
  step.times.hop_s = {HopTime(context, step.layout)};
  step.layer_kinds = LayerKindsOf(context, step.layout);
  return step;
}

absl::Status CheckScheduledStep(const ScheduledStep& step, int64_t most_actions,
                                std::string_view done) {
  const absl::Status exists = CheckScheduleExists(step.layout, step.micro_batches);
  if (!exists.ok()) {
    return FieldOf(exists) == "micro_batches" ? exists : WithField(exists, "layout");
  }
  if (step.MostActions() <= static_cast<double>(most_actions)) return absl::OkStatus();
  return FieldError(
      "micro_batches", step.micro_batches,
      absl::StrFormat("makes %.0f actions on %d stages; at most %d can be %s", step.MostActions(),
                      int64_t{step.layout.pp} * step.layout.vpp, most_actions, AbslView(done)));
}

absl::StatusOr<ScheduleAnswer> AnswerSchedule(const ScheduledStep& step) {
  ScheduleAnswer answer{.layout = step.layout,
                        .micro_batches = step.micro_batches,
                        .timeline = {},
                        .layer_kinds = step.layer_kinds,
                        .svg = {}};
  ASSIGN_OR_RETURN(answer.timeline, SimulateLayout(step.layout, step.micro_batches, step.times));
  return answer;
}

}  // namespace meshwright::planner
