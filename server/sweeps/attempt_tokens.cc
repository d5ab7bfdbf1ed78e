#include "server/sweeps/attempt_tokens.h"

#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/params.h>

#include <array>
#include <utility>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"

namespace meshwright::server {
namespace {

const unsigned char* Bytes(std::string_view text) {
  return reinterpret_cast<const unsigned char*>(text.data());
}

}  // namespace

void AttemptTokens::Free::operator()(EVP_MAC_CTX* mac) const { EVP_MAC_CTX_free(mac); }

absl::StatusOr<AttemptTokens> AttemptTokens::Make(std::string_view secret) {
  EVP_MAC* const hmac = EVP_MAC_fetch(nullptr, OSSL_MAC_NAME_HMAC, nullptr);
  Mac mac(EVP_MAC_CTX_new(hmac));
  EVP_MAC_free(hmac);
  char digest[] = "SHA256";
  const std::array<OSSL_PARAM, 2> parameters = {
      OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_DIGEST, digest, 0),
      OSSL_PARAM_construct_end()};
  if (mac == nullptr ||
      EVP_MAC_init(mac.get(), Bytes(secret), secret.size(), parameters.data()) != 1) {
    return absl::InternalError(
        "this OpenSSL has no HMAC-SHA256, with which the tokens of attempts are made");
  }
  return AttemptTokens(std::move(mac));
}

std::string AttemptTokens::Keyed(absl::string_view purpose, int64_t sweep_id,
                                 const wire::AttemptKey& key) const {
  const std::string text = absl::StrCat(purpose, " ", sweep_id, "/", key.trial, "/", key.attempt);
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest = {};
  size_t length = 0;
  const Mac mac(EVP_MAC_CTX_dup(mac_.get()));
  const bool made = mac != nullptr && EVP_MAC_update(mac.get(), Bytes(text), text.size()) == 1 &&
                    EVP_MAC_final(mac.get(), digest.data(), &length, digest.size()) == 1;
  // An empty text is the token of no attempt.
  if (!made) return "";
  return absl::BytesToHexString(
      absl::string_view(reinterpret_cast<const char*>(digest.data()), length));
}

std::string AttemptTokens::TokenOf(int64_t sweep_id, const wire::AttemptKey& key) const {
  return Keyed("attempt", sweep_id, key);
}

std::string AttemptTokens::GangSecretOf(int64_t sweep_id, const wire::AttemptKey& key) const {
  return Keyed("gang", sweep_id, key);
}

absl::Status AttemptTokens::Check(int64_t sweep_id, const wire::AttemptKey& key,
                                  std::string_view token) const {
  if (token.empty()) {
    return absl::UnauthenticatedError(
        absl::StrCat("the result of attempt ", key.attempt,
                     " has no token: it must carry the token of the attempt's assignment"));
  }
  const std::string right = TokenOf(sweep_id, key);
  if (token.size() == right.size() &&
      CRYPTO_memcmp(token.data(), right.data(), right.size()) == 0) {
    return absl::OkStatus();
  }
  return absl::PermissionDeniedError(absl::StrCat(
      "the token of the result is not the one that attempt ", key.attempt, " was given out with"));
}

}  // namespace meshwright::server
