// VerdictOn() decides whether a delivered result is stored or refused, as far as the trial and its
// attempts determine this. It is used for active sweeps, which the engine has in memory, and for
// ended sweeps, which are in the store.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "db/records.h"
#include "executor/trial/trial.h"

namespace meshwright::server {

struct FinishVerdict {
  // kRetry: the result can't be taken now and has to be delivered again.
  enum class Outcome : uint8_t { kStored, kRefused, kRetry };
  Outcome kind = Outcome::kStored;
  std::string reason;
  absl::StatusCode code = absl::StatusCode::kOk;  // why it was refused
};

// Returns the verdict on a result that is refused for good. The agent may forget such a result.
inline FinishVerdict Refused(absl::StatusCode code, std::string reason) {
  return {FinishVerdict::Outcome::kRefused, std::move(reason), code};
}

// The facts about a delivered result and its trial on which the verdict depends.
struct ResultClaim {
  int32_t attempt = 0;        // number of the attempt that gave the result
  bool is_cancelled = false;  // the result says that the attempt was cancelled
  bool was_given = false;     // the attempt was assigned to an agent
  // The agent that leads the attempt, if the agent that delivered the result has no share of the
  // attempt; otherwise empty.
  std::string_view given_to = {};
  std::optional<int32_t> measured = std::nullopt;  // the attempt whose result the trial has
};

// Returns the verdict on a second result that a caller reports for an attempt. `state` and `step_s`
// are those of the first result. If the second result equals the first, it counts as stored;
// otherwise it is refused.
FinishVerdict VerdictOnRepeat(db::TrialState state, std::optional<double> step_s,
                              const trial::TrialResult& result);

// Returns the state of a trial with this outcome.
db::TrialState StateAfter(trial::TrialOutcome outcome);

// Returns the verdict that follows from the claim alone, or nullopt if the claim does not decide.
std::optional<FinishVerdict> VerdictOn(const ResultClaim& claim);

}  // namespace meshwright::server
