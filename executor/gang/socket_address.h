// Addresses of TCP sockets, and sockets that never wait.
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

// The first that a numeric address or a name stands for. A name is looked up, which may take
// seconds. Unavailable where it stands for none.
absl::StatusOr<SocketAddress> Resolve(const std::string& host, uint16_t port);
// Of "host:port", an IPv6 address in brackets. InvalidArgument where it is not of this form.
absl::StatusOr<SocketAddress> ResolveHostPort(const std::string& text);

SocketAddress Loopback(uint16_t port);

// For `address`, neither bound nor connected; nothing waits in it.
absl::StatusOr<UniqueFd> OpenSocket(const SocketAddress& address);

// From now on nothing waits in it.
void SetNonBlocking(const UniqueFd& socket);

// Begins to connect: the socket can be written to once it is connected, and reading and writing
// fail where that fails. Unavailable where it fails at once.
absl::StatusOr<UniqueFd> Dial(const SocketAddress& address);

// What came to a listening socket; one that is not open where nothing did.
UniqueFd Accept(int listener);

// Whether it says no more than that there is nothing to read, or no room to write, yet.
bool IsForLater(int error);

// Unavailable with what errno says.
absl::Status SocketError(absl::string_view what);

}  // namespace meshwright::gang
