// These functions read what a caller says of a trial that it asked for (v1::TellTrialRequest).
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

// Returns the lease of `seconds`, or a day for 0. Returns InvalidArgument about `field` if it is
// shorter than a minute or longer than 30 days.
absl::StatusOr<absl::Duration> ReadLease(std::string_view field, int64_t seconds);

// Returns the token that callers get: the number of the attempt, and the attempt's token.
std::string AskToken(const AskedTrial& asked);

// The attempt that a caller tells about, with the attempt's token.
struct TellKey {
  wire::AttemptKey key;
  std::string token;
};

// Returns InvalidArgument if the name is not a trial's or the token has another form than
// AskToken()'s.
absl::StatusOr<TellKey> ReadTellKey(const v1::TellTrialRequest& request);

// Returns the result as a trial's. Returns InvalidArgument about the field of `told` that is
// missing or out of place.
absl::StatusOr<trial::TrialResult> ReadToldResult(const v1::ToldResult& told);

}  // namespace meshwright::server
