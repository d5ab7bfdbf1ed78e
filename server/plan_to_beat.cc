#include "server/plan_to_beat.h"

#include "planner/codec/json_text.h"

namespace meshwright::server {

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
