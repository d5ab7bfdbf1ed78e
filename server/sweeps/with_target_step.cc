#include "server/sweeps/with_target_step.h"

#include "base/text/json_members.h"
#include "nlohmann/json.hpp"

namespace meshwright::server {

std::string WithTargetStep(const std::string& plan_json, std::optional<double> best_step_s) {
  if (!best_step_s || FindMember(plan_json, "adaptive") != "true") return plan_json;
  return WithMember(plan_json, "beat_step_s", nlohmann::json(*best_step_s).dump())
      .value_or(plan_json);
}

}  // namespace meshwright::server
