#include "server/engine/result_verdict.h"

#include "absl/strings/str_cat.h"
#include "base/text/string_view.h"

namespace meshwright::server {

db::TrialState StateAfter(trial::TrialOutcome outcome) {
  switch (outcome) {
    case trial::TrialOutcome::kOk:
      return db::TrialState::kOk;
    case trial::TrialOutcome::kOom:
      return db::TrialState::kOom;
    case trial::TrialOutcome::kTimeout:
      return db::TrialState::kTimeout;
    case trial::TrialOutcome::kFailed:
    case trial::TrialOutcome::kCancelled:
      return db::TrialState::kFailed;
  }
  return db::TrialState::kFailed;
}

FinishVerdict VerdictOnRepeat(db::TrialState state, std::optional<double> step_s,
                              const trial::TrialResult& result) {
  const bool is_same = StateAfter(result.outcome) == state && (!step_s || *step_s == result.step_s);
  if (is_same) return {FinishVerdict::Outcome::kStored, "it was stored before"};
  return Refused(
      absl::StatusCode::kAlreadyExists,
      absl::StrCat("another result was told before: ", AbslView(db::TrialStateName(state)),
                   step_s ? absl::StrCat(", ", *step_s, " s per step") : ""));
}

std::optional<FinishVerdict> VerdictOn(const ResultClaim& claim) {
  if (claim.measured == claim.attempt) {
    return FinishVerdict{FinishVerdict::Outcome::kStored, "it was stored before"};
  }
  if (claim.is_cancelled) {
    return Refused(absl::StatusCode::kCancelled, "a cancelled attempt has no result");
  }
  if (!claim.was_given) {
    return Refused(absl::StatusCode::kNotFound,
                   absl::StrCat("attempt ", claim.attempt, " was never given out"));
  }
  if (!claim.given_to.empty()) {
    return Refused(
        absl::StatusCode::kPermissionDenied,
        absl::StrCat("attempt ", claim.attempt, " was given to agent ", AbslView(claim.given_to)));
  }
  if (claim.measured) {
    return Refused(absl::StatusCode::kAlreadyExists,
                   absl::StrCat("attempt ", *claim.measured, " had a result before"));
  }
  return std::nullopt;
}

}  // namespace meshwright::server
