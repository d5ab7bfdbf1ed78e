#include "executor/trial/result_fields.h"

#include "base/text/status_macros.h"
#include "planner/codec/json_codec.h"

namespace meshwright::trial {

nlohmann::json ToJson(const TrialResult& result) { return planner::WriteJson(result); }

absl::StatusOr<TrialResult> TrialResultFromJson(const nlohmann::json& json) {
  TrialResult result;
  RETURN_IF_ERROR(planner::ReadJson("result", json, planner::UnknownKeys::kPassOver, result));
  return result;
}

}  // namespace meshwright::trial
