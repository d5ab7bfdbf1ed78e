// Handshake authenticates both ends of a connection to a listener: each proves that it knows the
// gang's secret without sending it.
//
//   dialer:   "MWGANG1\n", purpose of the connection (1 byte), nonce (32 bytes)
//   listener: nonce (32), proof (32)
//   dialer:   proof (32)
//
// A proof is an HMAC-SHA256, keyed with the secret, over the prover's side, the purpose and both
// nonces. Traffic after the handshake is not encrypted.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace meshwright::gang {

// The purpose of a connection. kLink is for a member's frames (executor/gang/frame.h), and kTunnel
// is for a worker's bytes to rank 0's store.
enum class Purpose : uint8_t { kLink = 'L', kTunnel = 'T' };

inline constexpr size_t kNonceBytes = 32;

// Returns kNonceBytes random bytes, or Unavailable if the system provides none.
absl::StatusOr<std::string> NewNonce();

// One end of the handshake, independent of any socket: bytes go in and come out.
class Handshake {
 public:
  // REQUIRES: `nonce` is fresh and has kNonceBytes.
  static Handshake OfDialer(std::string secret, Purpose purpose, std::string nonce);
  static Handshake OfListener(std::string secret, std::string nonce);

  // Returns the bytes to send now and forgets them.
  std::string TakeOutput();
  // Returns how many more bytes the handshake needs, 0 once it is done. Bytes beyond these belong
  // to the connection's payload.
  size_t wanted_bytes() const { return wanted_bytes_ - input_.size(); }
  // Consumes `bytes`. Returns PermissionDenied if the peer does not know the secret. REQUIRES:
  // `bytes` has at most wanted_bytes().
  absl::Status TakeIn(std::string_view bytes);
  bool done() const { return wanted_bytes_ == 0; }
  // On the listener's side, the purpose is known once done().
  Purpose purpose() const { return purpose_; }

 private:
  enum class Side : uint8_t { kDialer, kListener };

  Handshake(Side side, std::string secret, std::string nonce)
      : side_(side), secret_(std::move(secret)), nonce_(std::move(nonce)) {}

  absl::Status TakeGreeting();
  absl::Status TakeListenersProof();
  absl::Status TakeDialersProof();
  std::string ProofOf(Side side) const;

  Side side_;
  std::string secret_;
  std::string nonce_;
  Purpose purpose_ = Purpose::kLink;
  std::string others_nonce_;
  std::string input_;
  std::string output_;
  size_t wanted_bytes_ = 0;
};

}  // namespace meshwright::gang
