#include "server/sweeps/told_result.h"

#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/text/field_error.h"
#include "base/text/status_macros.h"
#include "executor/trial/result_check.h"
#include "proto/meshwright/v1/resource_names.h"

namespace meshwright::server {
namespace {

constexpr int64_t kDefaultLeaseS = 24 * 60 * 60;
constexpr int64_t kLeastLeaseS = 60;
constexpr int64_t kMostLeaseS = 30 * kDefaultLeaseS;

absl::StatusOr<trial::TrialOutcome> OutcomeOf(v1::Outcome outcome) {
  switch (outcome) {
    case v1::OUTCOME_OK:
      return trial::TrialOutcome::kOk;
    case v1::OUTCOME_OOM:
      return trial::TrialOutcome::kOom;
    case v1::OUTCOME_FAILED:
      return trial::TrialOutcome::kFailed;
    default:
      return FieldError("result.outcome", v1::Outcome_Name(outcome), "must be ok, oom or failed");
  }
}

}  // namespace

absl::StatusOr<absl::Duration> ReadLease(std::string_view field, int64_t seconds) {
  if (seconds == 0) return absl::Seconds(kDefaultLeaseS);
  RETURN_IF_ERROR(CheckRange(field, seconds, kLeastLeaseS, kMostLeaseS));
  return absl::Seconds(seconds);
}

std::string AskToken(const AskedTrial& asked) {
  return absl::StrCat(asked.key.attempt, "-", asked.token);
}

absl::StatusOr<TellKey> ReadTellKey(const v1::TellTrialRequest& request) {
  ASSIGN_OR_RETURN(const TrialName name, ParseTrialName(request.name()));
  const std::pair<std::string, std::string> parts =
      absl::StrSplit(request.token(), absl::MaxSplits('-', 1));
  TellKey told{{name.sweep, name.number, 0}, parts.second};
  if (!absl::SimpleAtoi(parts.first, &told.key.attempt) || told.token.empty()) {
    return FieldError("token", request.token(),
                      "must be the token with which the trial was handed out");
  }
  return told;
}

absl::StatusOr<trial::TrialResult> ReadToldResult(const v1::ToldResult& told) {
  trial::TrialResult result;
  ASSIGN_OR_RETURN(result.outcome, OutcomeOf(told.outcome()));
  if (result.outcome == trial::TrialOutcome::kOk) {
    RETURN_IF_ERROR(CheckPositive("result.step_s", told.step_s()));
    result.step_s = told.step_s();
  } else if (told.step_s() != 0.0) {
    return FieldError("result.step_s", absl::StrCat(told.step_s()),
                      "must be absent unless the outcome is ok");
  } else {
    result.message = told.message().empty() ? "told without a reason" : told.message();
    if (result.outcome == trial::TrialOutcome::kFailed) result.fault = trial::Fault::kLayout;
  }
  RETURN_IF_ERROR(CheckRange("result.peak_bytes", told.peak_bytes(), 0, trial::kMostBytes));
  trial::RankResult& rank = result.ranks.emplace_back();
  rank.peak_bytes = told.peak_bytes();
  return result;
}

}  // namespace meshwright::server
