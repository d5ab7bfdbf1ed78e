#include "db/token.h"

#include <openssl/crypto.h>
#include <openssl/sha.h>

#include <algorithm>
#include <array>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "base/system/random_bytes.h"
#include "base/text/status_macros.h"
#include "base/text/string_view.h"

namespace meshwright::db {
namespace {

constexpr std::string_view kPrefix = "mwt_";
constexpr size_t kRandomBytes = 32;

std::string ToHex(const unsigned char* bytes, size_t count) {
  return absl::BytesToHexString(absl::string_view(reinterpret_cast<const char*>(bytes), count));
}

std::string DateOf(absl::Time time) {
  return absl::FormatTime("%Y-%m-%d %H:%M UTC", time, absl::UTCTimeZone());
}

}  // namespace

absl::Status CheckCounts(const TokenRecord& token, absl::Time now) {
  const auto ended = [&](absl::string_view how, absl::Time when) {
    return absl::UnauthenticatedError(
        absl::StrCat("token ", token.name, " ", how, " on ", DateOf(when),
                     ": use another; `meshwright token create` on the server's machine makes one"));
  };
  if (token.revoke_time) return ended("was revoked", *token.revoke_time);
  if (token.expire_time && *token.expire_time <= now) return ended("expired", *token.expire_time);
  return absl::OkStatus();
}

absl::StatusOr<std::string> NewToken() {
  ASSIGN_OR_RETURN(const std::string random, RandomHex(kRandomBytes));
  return absl::StrCat(AbslView(kPrefix), random);
}

bool LooksLikeToken(std::string_view text) {
  if (!text.starts_with(kPrefix) || text.size() != kPrefix.size() + 2 * kRandomBytes) return false;
  text.remove_prefix(kPrefix.size());
  return std::all_of(text.begin(), text.end(),
                     [](char c) { return absl::ascii_isxdigit(static_cast<unsigned char>(c)); });
}

std::string HashOf(std::string_view token) {
  std::array<unsigned char, SHA256_DIGEST_LENGTH> digest = {};
  SHA256(reinterpret_cast<const unsigned char*>(token.data()), token.size(), digest.data());
  return ToHex(digest.data(), digest.size());
}

bool SameHash(std::string_view a, std::string_view b) {
  return a.size() == b.size() && CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0;
}

}  // namespace meshwright::db
