// What becomes of a delivered result, as far as the trial and its attempts alone decide: for sweeps
// that run, whose engine has them in memory, and for those that have ended, which the store knows.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"

namespace meshwright::server {

struct FinishVerdict {
  // kRetry: the store can't take it now.
  enum class Outcome : uint8_t { kStored, kRefused, kRetry };
  Outcome kind = Outcome::kStored;
  std::string reason;
  absl::StatusCode code = absl::StatusCode::kOk;  // of why it was refused
};

// Returns the verdict on a result that is not taken, for good: who delivered it may forget it.
inline FinishVerdict Refused(absl::StatusCode code, std::string reason) {
  return {FinishVerdict::Outcome::kRefused, std::move(reason), code};
}

// What was delivered, and what is known of its trial.
struct ResultClaim {
  int32_t attempt = 0;        // that the result is of
  bool is_cancelled = false;  // the result says that the attempt was cancelled
  bool was_given = false;     // the attempt was given out
  // The agent that leads the attempt, where it was not given to the one that delivered the result.
  std::string_view given_to = {};
  std::optional<int32_t> measured = std::nullopt;  // the attempt whose result the trial has
};

// Returns the verdict that follows from the claim alone; nothing where it stands in no result's
// way.
std::optional<FinishVerdict> VerdictOn(const ResultClaim& claim);

}  // namespace meshwright::server
