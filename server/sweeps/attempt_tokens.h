// AttemptTokens makes and checks the tokens that prove that a result comes from an agent which was
// given its attempt.
//
// A token is an HMAC-SHA256 of the attempt's sweep, trial and number under a secret of the store,
// rather than a random number kept with the attempt: none has to be stored or loaded, decisions
// about attempts need no randomness, and every token is valid for as long as the store, over
// restarts of the server. Whether the attempt may still bring a result is for the engine.
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

// The tokens of one store. Functions may be called from any thread.
class AttemptTokens {
 public:
  // Internal where OpenSSL lacks the algorithm.
  static absl::StatusOr<AttemptTokens> Make(std::string_view secret);

  // Returns the token in hexadecimal. A sweep's id is never given to another sweep, unlike its
  // name.
  std::string TokenOf(int64_t sweep_id, const wire::AttemptKey& key) const;

  // Unauthenticated for a result without a token, PermissionDenied for one with another token.
  absl::Status Check(int64_t sweep_id, const wire::AttemptKey& key, std::string_view token) const;

  // Returns, in hexadecimal, the secret by which the members of an attempt of several agents
  // authenticate to each other. It is made like the token, but differs from it.
  std::string GangSecretOf(int64_t sweep_id, const wire::AttemptKey& key) const;

 private:
  struct Free {
    void operator()(EVP_MAC_CTX* mac) const;
  };

  using Mac = std::unique_ptr<EVP_MAC_CTX, Free>;

  explicit AttemptTokens(Mac mac) : mac_(std::move(mac)) {}
  std::string Keyed(absl::string_view purpose, int64_t sweep_id, const wire::AttemptKey& key) const;

  // Keyed once: OpenSSL looks algorithms up by name whenever one begins.
  Mac mac_;
};

}  // namespace meshwright::server
