// AttemptTokens makes and checks attempt tokens. A token proves that a result comes from an agent
// to which the attempt was assigned.
//
// A token is an HMAC-SHA256 of the attempt's sweep, trial and number, keyed with a secret of the
// store. Unlike a random token, it need not be stored, and decisions about attempts stay
// deterministic. A token stays valid as long as the store exists, even if the server restarts. The
// engine decides whether the attempt may still deliver a result.
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
  // Returns Internal if OpenSSL lacks the algorithm.
  static absl::StatusOr<AttemptTokens> Make(std::string_view secret);

  // Returns the token in hexadecimal. It is made from the sweep's id, not from its name, since the
  // name of a deleted sweep may be given to another one.
  std::string TokenOf(int64_t sweep_id, const wire::AttemptKey& key) const;

  // Returns Unauthenticated for a result without a token, and PermissionDenied if the token is not
  // the attempt's.
  absl::Status Check(int64_t sweep_id, const wire::AttemptKey& key, std::string_view token) const;

  // Returns, in hexadecimal, the secret by which the members of an attempt of several agents
  // authenticate to each other. It is an HMAC like the token, but over a text with another prefix.
  std::string GangSecretOf(int64_t sweep_id, const wire::AttemptKey& key) const;

 private:
  struct Free {
    void operator()(EVP_MAC_CTX* mac) const;
  };

  using Mac = std::unique_ptr<EVP_MAC_CTX, Free>;

  explicit AttemptTokens(Mac mac) : mac_(std::move(mac)) {}
  std::string Keyed(absl::string_view purpose, int64_t sweep_id, const wire::AttemptKey& key) const;

  // Initialised once and copied for each use, since OpenSSL looks up the algorithm by name in each
  // initialisation.
  Mac mac_;
};

}  // namespace meshwright::server
