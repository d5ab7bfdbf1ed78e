// What shows that a result comes from whom its attempt was given to.
//
// A token is an HMAC-SHA256 of the attempt's sweep, trial and number under a secret of the store,
// not a random number kept with the attempt: none has to be stored or loaded, the decisions about
// attempts need no randomness, and every token counts for as long as the store does, over restarts
// of the server. Whether the attempt may still bring a result is for the engine.
#pragma once

#include <openssl/types.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "executor/wire/attempt_key.h"

namespace meshwright::server {

// Those of one store. Any thread may ask.
class AttemptTokens {
 public:
  // Internal where OpenSSL has no such algorithm.
  static absl::StatusOr<AttemptTokens> Make(std::string_view secret);

  // Hexadecimal. A sweep's id is never given to another one, unlike its name.
  std::string TokenOf(int64_t sweep_id, const wire::AttemptKey& key) const;

  // Unauthenticated for a result that brings none, PermissionDenied for one that brings another.
  absl::Status Check(int64_t sweep_id, const wire::AttemptKey& key, std::string_view token) const;

  // By which the members of an attempt that several agents were given know each other: made in the
  // same way, and another text than its token. Hexadecimal.
  std::string GangSecretOf(int64_t sweep_id, const wire::AttemptKey& key) const;

 private:
  struct Free {
    void operator()(EVP_MAC_CTX* mac) const;
  };

  using Mac = std::unique_ptr<EVP_MAC_CTX, Free>;

  explicit AttemptTokens(Mac mac) : mac_(std::move(mac)) {}
  std::string Keyed(absl::string_view purpose, int64_t sweep_id, const wire::AttemptKey& key) const;

  // Keyed once: OpenSSL looks algorithms up by their names whenever one begins.
  Mac mac_;
};

}  // namespace meshwright::server
