#include "executor/gang/handshake.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>

#include <array>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/system/random_bytes.h"

namespace meshwright::gang {
namespace {

constexpr std::string_view kMagic = "MWGANG1\n";
constexpr size_t kProofBytes = 32;
constexpr size_t kGreetingBytes = kMagic.size() + 1 + kNonceBytes;

absl::Status Stranger(absl::string_view why) {
  return absl::PermissionDeniedError(absl::StrCat("not of this gang: ", why));
}

absl::Status CheckProof(std::string_view proof, std::string_view right) {
  if (proof.size() == right.size() &&
      CRYPTO_memcmp(proof.data(), right.data(), right.size()) == 0) {
    return absl::OkStatus();
  }
  return Stranger("it does not know the secret");
}

}  // namespace

absl::StatusOr<std::string> NewNonce() { return RandomBytes(kNonceBytes); }

Handshake Handshake::OfDialer(std::string secret, Purpose purpose, std::string nonce) {
  Handshake handshake(Side::kDialer, std::move(secret), std::move(nonce));
  handshake.purpose_ = purpose;
  handshake.output_ = std::string(kMagic) + static_cast<char>(purpose) + handshake.nonce_;
  handshake.wanted_bytes_ = kNonceBytes + kProofBytes;
  return handshake;
}

Handshake Handshake::OfListener(std::string secret, std::string nonce) {
  Handshake handshake(Side::kListener, std::move(secret), std::move(nonce));
  handshake.wanted_bytes_ = kGreetingBytes;
  return handshake;
}

std::string Handshake::TakeOutput() { return std::exchange(output_, {}); }

absl::Status Handshake::TakeIn(std::string_view bytes) {
  input_.append(bytes.substr(0, wanted_bytes()));
  if (done()) return absl::OkStatus();
  const std::string_view begin = std::string_view(input_).substr(0, kMagic.size());
  // Rejects most strangers before their whole greeting has arrived.
  if (wanted_bytes_ == kGreetingBytes && !kMagic.starts_with(begin)) {
    return Stranger("its greeting is not of this protocol");
  }
  if (wanted_bytes() > 0) return absl::OkStatus();
  absl::Status status;
  if (side_ == Side::kDialer) {
    status = TakeListenersProof();
  } else {
    status = others_nonce_.empty() ? TakeGreeting() : TakeDialersProof();
  }
  input_.clear();
  return status;
}

absl::Status Handshake::TakeGreeting() {
  const std::string_view greeting = input_;
  const auto purpose = static_cast<Purpose>(greeting[kMagic.size()]);
  if (purpose != Purpose::kLink && purpose != Purpose::kTunnel) {
    return Stranger("its greeting states an unknown purpose");
  }
  purpose_ = purpose;
  others_nonce_ = greeting.substr(kMagic.size() + 1);
  output_ = nonce_ + ProofOf(Side::kListener);
  wanted_bytes_ = kProofBytes;
  return absl::OkStatus();
}

absl::Status Handshake::TakeListenersProof() {
  others_nonce_ = input_.substr(0, kNonceBytes);
  absl::Status proved =
      CheckProof(std::string_view(input_).substr(kNonceBytes), ProofOf(Side::kListener));
  if (!proved.ok()) return proved;
  output_ = ProofOf(Side::kDialer);
  wanted_bytes_ = 0;
  return absl::OkStatus();
}

absl::Status Handshake::TakeDialersProof() {
  absl::Status proved = CheckProof(input_, ProofOf(Side::kDialer));
  if (proved.ok()) wanted_bytes_ = 0;
  return proved;
}

std::string Handshake::ProofOf(Side side) const {
  const bool dials = side_ == Side::kDialer;
  const std::string text = absl::StrCat(
      side == Side::kDialer ? "dialer" : "gate", std::string(1, static_cast<char>(purpose_)),
      dials ? nonce_ : others_nonce_, dials ? others_nonce_ : nonce_);
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest = {};
  unsigned int length = 0;
  HMAC(EVP_sha256(), secret_.data(), static_cast<int>(secret_.size()),
       reinterpret_cast<const unsigned char*>(text.data()), text.size(), digest.data(), &length);
  return {reinterpret_cast<const char*>(digest.data()), length};
}

}  // namespace meshwright::gang
