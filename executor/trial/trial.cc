#include "executor/trial/trial.h"

#include <limits>
#include <utility>

#include "base/text/field_error.h"
#include "base/text/status_macros.h"
#include "executor/trial/model_form.h"
#include "executor/trial/timeout.h"
#include "planner/catalog/spec_fields.h"
#include "planner/codec/json_codec.h"

namespace meshwright::trial {
namespace {

constexpr planner::TextForm kLayoutText{&planner::FormatLayout, &planner::ParseLayout};
constexpr planner::TextForm kDeviceText{&planner::DeviceKindName, &planner::ParseDeviceKind};

// A plan as its JSON has it.
struct PlanForm {
  TrialPlan plan;  // without its model
  ModelForm model;
};

template <planner::ConstOr<PlanForm> Form, typename Visitor>
void VisitFields(Form& form, Visitor& visit) {
  auto& plan = form.plan;
  visit(planner::Needed("model"), form.model);
  visit(planner::Needed("layout"), plan.layout, kLayoutText);
  visit(planner::Needed("training"), plan.training);
  visit("device", plan.device, kDeviceText);
  visit(planner::Needed("steps"), plan.steps);
  visit("adaptive", plan.adaptive);
  visit("beat_step_s", plan.beat_step_s);
  visit("seed", plan.seed);
  visit("memory_limit_bytes", plan.memory_limit_bytes);
  visit("timeout_s", plan.timeout_s);
  visit("known_peak_flops", plan.known_peak_flops);
  visit("peak_flops", plan.peak_flops);
  visit("estimated_bytes", plan.estimated_bytes);
  visit("estimated_communicator_bytes", plan.estimated_communicator_bytes);
  visit(planner::OnlyIf(!plan.estimated_host_bytes.empty(), "estimated_host_bytes"),
        plan.estimated_host_bytes);
  visit("slice", plan.slice);
  visit("trace", plan.trace);
  visit("runner", plan.runner);
}

}  // namespace

nlohmann::json ToJson(const TrialPlan& plan) {
  return planner::WriteJson(PlanForm{.plan = plan, .model = FormOf(plan.model)});
}

absl::StatusOr<TrialPlan> TrialPlanFromJson(const nlohmann::json& json) {
  PlanForm form;
  RETURN_IF_ERROR(planner::ReadJson("plan", json, planner::UnknownKeys::kRefuse, form));
  TrialPlan plan = std::move(form.plan);
  plan.model = ModelOf(form.model);
  RETURN_IF_ERROR(Validate(plan.model));
  RETURN_IF_ERROR(Validate(plan.training));
  RETURN_IF_ERROR(CheckRange("steps", plan.steps, 1, kMostSteps));
  RETURN_IF_ERROR(CheckTimeout(plan.timeout_s));
  if (plan.memory_limit_bytes.has_value()) {
    RETURN_IF_ERROR(CheckRange("memory_limit_bytes", *plan.memory_limit_bytes, 1,
                               std::numeric_limits<int64_t>::max()));
  }
  return plan;
}

}  // namespace meshwright::trial
