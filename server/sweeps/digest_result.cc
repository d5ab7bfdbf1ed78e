#include "server/sweeps/digest_result.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/text/json_text.h"
#include "nlohmann/json.hpp"

namespace meshwright::server {
namespace {

db::MeasuredTrial Measured(const trial::TrialResult& result, const nlohmann::json& json) {
  db::MeasuredTrial measured;
  measured.result_json = json.dump();
  measured.worker_version = result.worker_version;
  for (const trial::RankResult& rank : result.ranks) {
    // A command of a runner may tell no memory.
    if (rank.peak_bytes == 0) continue;
    measured.peak_bytes = std::max(measured.peak_bytes.value_or(0), rank.peak_bytes);
  }
  if (result.outcome == trial::TrialOutcome::kOk) {
    if (result.peak_flops.has_value()) measured.mfu = result.mfu_of_peak;
    measured.step_s = result.step_s;
    if (result.step_interval) measured.step_noise = trial::LogDeviationOf(*result.step_interval);
  }
  return measured;
}

// Returns the failed result that replaces an invalid one.
trial::TrialResult Unusable(const trial::TrialResult& result, const absl::Status& problem) {
  trial::TrialResult failed;
  failed.outcome = trial::TrialOutcome::kFailed;
  failed.fault = trial::Fault::kLayout;
  failed.message = absl::StrCat("what the agent measured can't be right: ", problem.message());
  failed.worker_version = result.worker_version;
  failed.host = result.host;
  return failed;
}

}  // namespace

std::optional<StepWork> StepWorkOf(const std::string& plan_json) {
  const absl::StatusOr<nlohmann::json> json = ParseJson("plan", plan_json);
  if (!json.ok()) return std::nullopt;
  const absl::StatusOr<trial::TrialPlan> plan = trial::TrialPlanFromJson(*json);
  if (!plan.ok()) return std::nullopt;
  return StepWork{trial::PlannedWorkOf(*plan), plan->layout.devices()};
}

DigestedResult DigestResult(const trial::TrialResult& delivered,
                            const std::optional<StepWork>& work,
                            const trial::ResultLimits& limits) {
  DigestedResult digested{.delivered = delivered, .result = delivered, .measured = {}};
  trial::TrialResult& taken = digested.result;
  // Checked after the utilisation is added: what follows from valid numbers need not be valid.
  if (work && taken.outcome == trial::TrialOutcome::kOk) {
    trial::AddUtilisation(work->planned, work->ranks, taken);
  }
  nlohmann::json json = ToJson(taken);
  if (const absl::Status usable = trial::CheckResult(taken, json, limits); !usable.ok()) {
    digested.problem = usable;
    taken = Unusable(delivered, usable);
    json = ToJson(taken);
  }
  digested.measured = Measured(taken, json);
  return digested;
}

}  // namespace meshwright::server
