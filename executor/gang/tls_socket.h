// TlsSocket is one end of a TCP connection to a gang's listener. It speaks TLS 1.3 whose pre-shared
// key is the secret of the gang's attempt. No function blocks.
//
// A handshake succeeds only between two ends that know the secret, so a peer is a member of the
// same attempt. A key exchange (ECDHE) gives each connection keys of its own: recorded bytes are of
// no use on another connection, and whoever learns the secret later can't read them. There are no
// certificates, session tickets or early data, and no other versions of TLS.
#pragma once

#include <poll.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/system/monotonic_time.h"
#include "base/system/unique_fd.h"
#include "executor/gang/socket_address.h"

namespace meshwright::gang {

// The purpose of a connection. kLink is for a member's frames (executor/gang/frame.h), and kTunnel
// is for a worker's bytes to rank 0's store.
enum class Purpose : uint8_t { kLink, kTunnel };

// A buffer for Receive() has at least this size, the most that one TLS record holds. Then nothing
// stays in this object where poll() does not see it.
inline constexpr size_t kMostRecordBytes = size_t{16} << 10;

// How many bytes a peer may send before it is authenticated. Members send less than 1 KiB.
inline constexpr size_t kMostHandshakeBytes = size_t{4} << 10;

struct TlsConnection;  // what OpenSSL knows of a connection

class TlsSocket {
 public:
  // Begins the handshake of a connection, which has to be done by `deadline`: of a connection that
  // the listener accepted, or of a new one to the listener at `address`. REQUIRES: `accepted` is
  // non-blocking.
  static absl::StatusOr<TlsSocket> OfListener(UniqueFd accepted, const std::string& secret,
                                              MonotonicTime deadline);
  static absl::StatusOr<TlsSocket> Dial(const SocketAddress& address, const std::string& secret,
                                        Purpose purpose, MonotonicTime deadline);
  TlsSocket(TlsSocket&& other) noexcept;
  TlsSocket& operator=(TlsSocket&& other) noexcept;
  ~TlsSocket();
  // Closes the connection. Unless EndSending() returned true, the other end takes that for a loss.
  void Close();

  // Proceeds with the handshake. Returns PermissionDenied if the peer does not know the secret or
  // speaks another protocol, and other errors if the connection fails or the deadline has passed.
  absl::Status ShakeHands(MonotonicTime now);
  // Returns the descriptor and event for which the handshake waits.
  pollfd awaited() const;
  bool is_authenticated() const;

  // The functions below REQUIRE is_authenticated().

  // Returns the purpose that the dialer stated.
  Purpose purpose() const;
  int descriptor() const;
  // Returns the number of bytes that were received, 0 if none has arrived. Returns OutOfRange once
  // the other end has ended its sending side, and Unavailable if the connection is lost.
  absl::StatusOr<size_t> Receive(std::span<char> buffer);
  // Returns how many of the first of `bytes` were sent. REQUIRES: the next call has the rest of
  // `bytes`, which may be followed by more.
  absl::StatusOr<size_t> Send(std::string_view bytes);
  // Tells the other end that nothing more will be sent. Returns false if that has to be tried again
  // later. REQUIRES: Send() has sent everything.
  absl::StatusOr<bool> EndSending();

 private:
  explicit TlsSocket(std::unique_ptr<TlsConnection> connection);
  static absl::StatusOr<TlsSocket> Make(UniqueFd socket, const std::string& secret,
                                        MonotonicTime deadline);
  // Returns OK if the call that returned `result` only has to be repeated later.
  absl::Status StatusOf(int result) const;

  std::unique_ptr<TlsConnection> connection_;  // at one address, for OpenSSL's callbacks
};

}  // namespace meshwright::gang
