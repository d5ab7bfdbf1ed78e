#include "server/digest_result.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "executor/trial/utilisation.h"
#include "nlohmann/json.hpp"
#include "planner/codec/json_text.h"

namespace meshwright::server {
namespace {

db::MeasuredTrial Measured(const trial::TrialResult& result) {
  db::MeasuredTrial measured;
  measured.result_json = ToJson(result).dump();
  measured.worker_version = result.worker_version;
  for (const trial::RankResult& rank : result.ranks) {
    measured.peak_bytes = std::max(measured.peak_bytes.value_or(0), rank.peak_bytes);
  }
  if (result.outcome == trial::TrialOutcome::kOk) {
    if (result.peak_flops.has_value()) measured.mfu = result.mfu_of_peak;
    measured.step_s = result.step_s;
  }
  return measured;
}

trial::TrialResult AgainstThePlansPeak(trial::TrialResult result, const std::string& plan_json) {
  if (result.outcome != trial::TrialOutcome::kOk) return result;
  const absl::StatusOr<nlohmann::json> json = planner::ParseJson("plan", plan_json);
  if (!json.ok()) return result;
  const absl::StatusOr<trial::TrialPlan> plan = trial::TrialPlanFromJson(*json);
  if (plan.ok()) trial::AddUtilisation(*plan, plan->layout.devices(), result);
  return result;
}

// What stands for a result that can't be one.
trial::TrialResult Unusable(const trial::TrialResult& result, const absl::Status& problem) {
  trial::TrialResult failed;
  failed.outcome = trial::TrialOutcome::kFailed;
  failed.message = absl::StrCat("what the agent measured can't be right: ", problem.message());
  failed.worker_version = result.worker_version;
  failed.host = result.host;
  return failed;
}

}  // namespace

DigestedResult DigestResult(const trial::TrialResult& delivered, const std::string& plan_json,
                            const trial::ResultLimits& limits) {
  absl::Status usable = trial::CheckResult(delivered, limits);
  trial::TrialResult taken = delivered;
  if (usable.ok()) {
    // What follows from numbers that may be need not be one that may.
    taken = AgainstThePlansPeak(delivered, plan_json);
    usable = trial::CheckResult(taken, limits);
  }
  if (!usable.ok()) taken = Unusable(delivered, usable);
  db::MeasuredTrial measured = Measured(taken);
  return {.delivered = delivered, .result = std::move(taken), .measured = std::move(measured)};
}

}  // namespace meshwright::server
