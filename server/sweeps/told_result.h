// These functions read what a caller reports about a trial that it asked for
// (v1::TellTrialRequest).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "executor/trial/trial.h"
#include "executor/wire/attempt_key.h"
#include "meshwright/v1/sweeps.pb.h"
#include "server/sweeps/sweep_engine.h"

namespace meshwright::server {

// Returns the lease of `seconds`, or a day for 0. Returns InvalidArgument, which names `field`, if
// the lease is shorter than a minute or longer than 30 days.
absl::StatusOr<absl::Duration> ReadLease(std::string_view field, int64_t seconds);

// Returns the token that callers get: the number of the attempt, and the attempt's token.
std::string AskToken(const AskedTrial& asked);

// The attempt whose result a caller reports, with the attempt's token.
struct TellKey {
  wire::AttemptKey key;
  std::string token;
};

// Returns InvalidArgument if the name is not the name of a trial, or if the token does not have the
// form of AskToken().
absl::StatusOr<TellKey> ReadTellKey(const v1::TellTrialRequest& request);

// Returns `told` as a trial's result. Returns InvalidArgument, which names a field of `told`, if
// that field is missing, out of range, or must be absent.
absl::StatusOr<trial::TrialResult> ReadToldResult(const v1::ToldResult& told);

}  // namespace meshwright::server
