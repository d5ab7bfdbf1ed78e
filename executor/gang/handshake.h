// How the two ends of a connection to a gate learn that the other is of the same gang: each proves
// that it knows the gang's secret, which does not travel.
//
//   dialer: "MWGANG1\n", what the connection is for (1 byte), a nonce (32)
//   gate:   a nonce (32), its proof (32)
//   dialer: its proof (32)
//
// A proof is the HMAC-SHA256, under the secret, of whose proof it is, what the connection is for
// and both nonces. Nothing behind the handshake is encrypted.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace meshwright::gang {

// What a connection is for: the frames of a member (executor/gang/frame.h), or the bytes of a
// worker on their way to the store of rank 0.
enum class Purpose : uint8_t { kLink = 'L', kTunnel = 'T' };

inline constexpr size_t kNonceBytes = 32;

// Unavailable where the system gives no random numbers.
absl::StatusOr<std::string> NewNonce();

// One end, without the connection: bytes go in and come out.
class Handshake {
 public:
  // `nonce` is fresh and of kNonceBytes.
  static Handshake OfDialer(std::string secret, Purpose purpose, std::string nonce);
  static Handshake OfListener(std::string secret, std::string nonce);

  // What is to be sent now; once.
  std::string TakeOutput();
  // How many bytes it waits for; what follows them is not the handshake's. 0 once it is done.
  size_t wanted_bytes() const { return wanted_bytes_ - input_.size(); }
  // Takes `bytes` in, no more than it waits for. PermissionDenied where the other end is a
  // stranger.
  absl::Status TakeIn(std::string_view bytes);
  bool done() const { return wanted_bytes_ == 0; }
  // Known to the gate once it is done.
  Purpose purpose() const { return purpose_; }

 private:
  enum class Side : uint8_t { kDialer, kGate };

  Handshake(Side side, std::string secret, std::string nonce)
      : side_(side), secret_(std::move(secret)), nonce_(std::move(nonce)) {}

  absl::Status TakeGreeting();
  absl::Status TakeGatesProof();
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
