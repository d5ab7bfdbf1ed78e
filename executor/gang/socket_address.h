// SocketAddress is a TCP address, and the functions here open non-blocking sockets.
#pragma once

#include <sys/socket.h>

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "base/system/unique_fd.h"

namespace meshwright::gang {

struct SocketAddress {
  sockaddr_storage storage = {};
  socklen_t size = 0;

  const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&storage); }
  sockaddr* get() { return reinterpret_cast<sockaddr*>(&storage); }
  uint16_t port() const;
  // Returns the numeric address of the host, such as 10.0.0.1 or fe80::1; empty if there is none.
  std::string host() const;
};

// Returns the first address of `host`, a numeric address or a name. Resolving a name may take
// seconds. Returns Unavailable if `host` has no address.
absl::StatusOr<SocketAddress> Resolve(const std::string& host, uint16_t port);
// Resolves "host:port", in which an IPv6 address is in brackets. Returns InvalidArgument if the
// text is malformed, and otherwise the errors of Resolve().
absl::StatusOr<SocketAddress> ResolveHostPort(const std::string& text);

SocketAddress Loopback(uint16_t port);

// Returns a non-blocking socket for `address`, neither bound nor connected.
absl::StatusOr<UniqueFd> OpenSocket(const SocketAddress& address);

void SetNonBlocking(const UniqueFd& socket);

// Begins to connect and returns the socket, which becomes writable once it is connected. If the
// connection fails immediately, returns Unavailable; if it fails later, reads and writes fail.
absl::StatusOr<UniqueFd> Dial(const SocketAddress& address);

// Returns the next connection of a listening socket, or a closed descriptor if there is none.
UniqueFd Accept(int listener);

// Returns whether `error` only means that nothing can be read or written yet (EAGAIN and the like).
bool IsForLater(int error);

// Returns Unavailable with `what` and the text of errno.
absl::Status SocketError(absl::string_view what);

}  // namespace meshwright::gang
