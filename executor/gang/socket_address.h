// TCP socket addresses and non-blocking sockets.
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
};

// Returns the first address of a numeric address or name. Resolving a name may take seconds.
// Unavailable where it has none.
absl::StatusOr<SocketAddress> Resolve(const std::string& host, uint16_t port);
// Resolves "host:port", an IPv6 address in brackets. InvalidArgument where the text is malformed.
absl::StatusOr<SocketAddress> ResolveHostPort(const std::string& text);

SocketAddress Loopback(uint16_t port);

// Returns a non-blocking socket for `address`, neither bound nor connected.
absl::StatusOr<UniqueFd> OpenSocket(const SocketAddress& address);

void SetNonBlocking(const UniqueFd& socket);

// Begins to connect. The socket becomes writable once connected; reads and writes fail where
// connecting fails. Unavailable where it fails at once.
absl::StatusOr<UniqueFd> Dial(const SocketAddress& address);

// Returns the next connection of a listening socket; a closed descriptor where there is none.
UniqueFd Accept(int listener);

// Whether `error` only means that nothing can be read or written yet (EAGAIN and the like).
bool IsForLater(int error);

// Returns Unavailable with the text of errno.
absl::Status SocketError(absl::string_view what);

}  // namespace meshwright::gang
