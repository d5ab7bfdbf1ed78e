#include "server/step_to_beat.h"

#include <algorithm>

#include "planner/codec/json_text.h"

namespace meshwright::server {

std::optional<double> BestStep(const SweepView& sweep) {
  std::optional<double> best_s;
  for (const db::TrialRecord& trial : sweep.trials) {
    if (trial.state != db::TrialState::kOk || !trial.measured || !trial.measured->step_s) continue;
    best_s = std::min(best_s.value_or(*trial.measured->step_s), *trial.measured->step_s);
  }
  return best_s;
}

std::string PlanToBeat(const std::string& plan_json, std::optional<double> best_step_s) {
  if (!best_step_s) return plan_json;
  absl::StatusOr<nlohmann::json> plan = planner::ParseJson("plan", plan_json);
  if (!plan.ok() || !plan->is_object()) return plan_json;
  const auto adaptive = plan->find("adaptive");
  if (adaptive == plan->end() || *adaptive != true) return plan_json;
  (*plan)["beat_step_s"] = *best_step_s;
  return plan->dump();
}

}  // namespace meshwright::server
