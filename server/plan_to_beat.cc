#include "server/plan_to_beat.h"

#include "nlohmann/json.hpp"
#include "planner/codec/json_members.h"

namespace meshwright::server {

std::string PlanToBeat(const std::string& plan_json, std::optional<double> best_step_s) {
  if (!best_step_s || planner::FindMember(plan_json, "adaptive") != "true") return plan_json;
  return planner::WithMember(plan_json, "beat_step_s", nlohmann::json(*best_step_s).dump())
      .value_or(plan_json);
}

}  // namespace meshwright::server
