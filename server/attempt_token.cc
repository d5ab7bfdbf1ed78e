#include "server/attempt_token.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>

#include <array>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"

namespace meshwright::server {
namespace {

std::string Keyed(std::string_view secret, absl::string_view purpose, int64_t sweep_id,
                  const agent::AttemptKey& key) {
  const std::string text = absl::StrCat(purpose, " ", sweep_id, "/", key.trial, "/", key.attempt);
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest = {};
  unsigned int length = 0;
  HMAC(EVP_sha256(), secret.data(), static_cast<int>(secret.size()),
       reinterpret_cast<const unsigned char*>(text.data()), text.size(), digest.data(), &length);
  return absl::BytesToHexString(
      absl::string_view(reinterpret_cast<const char*>(digest.data()), length));
}

}  // namespace

std::string AttemptToken(std::string_view secret, int64_t sweep_id, const agent::AttemptKey& key) {
  return Keyed(secret, "attempt", sweep_id, key);
}

std::string GangSecret(std::string_view secret, int64_t sweep_id, const agent::AttemptKey& key) {
  return Keyed(secret, "gang", sweep_id, key);
}

absl::Status CheckAttemptToken(std::string_view secret, int64_t sweep_id,
                               const agent::AttemptKey& key, std::string_view token) {
  if (token.empty()) {
    return absl::UnauthenticatedError(absl::StrCat(
        "the result of attempt ", key.attempt, " brings no token: it must be its assignment's"));
  }
  const std::string right = AttemptToken(secret, sweep_id, key);
  if (token.size() == right.size() &&
      CRYPTO_memcmp(token.data(), right.data(), right.size()) == 0) {
    return absl::OkStatus();
  }
  return absl::PermissionDeniedError(
      absl::StrCat("the token of the result is not the one that "
                   "attempt ",
                   key.attempt, " was given out with"));
}

}  // namespace meshwright::server
