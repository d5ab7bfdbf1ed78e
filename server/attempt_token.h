// What shows that a result comes from whom its attempt was given to.
//
// A token is an HMAC-SHA256 of the attempt's sweep, trial and number under a secret of the store,
// not a random number kept with the attempt: none has to be stored or loaded, the decisions about
// attempts need no randomness, and every token counts for as long as the store does, over restarts
// of the server. Whether the attempt may still bring a result is for the engine.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "executor/agent/attempt_key.h"

namespace meshwright::server {

// Hexadecimal. A sweep's id is never given to another one, unlike its name.
std::string AttemptToken(std::string_view secret, int64_t sweep_id, const agent::AttemptKey& key);

// Unauthenticated for a result that brings none, PermissionDenied for one that brings another.
absl::Status CheckAttemptToken(std::string_view secret, int64_t sweep_id,
                               const agent::AttemptKey& key, std::string_view token);

// By which the members of an attempt that several agents were given know each other: made in the
// same way, and another text than its token. Hexadecimal.
std::string GangSecret(std::string_view secret, int64_t sweep_id, const agent::AttemptKey& key);

}  // namespace meshwright::server
