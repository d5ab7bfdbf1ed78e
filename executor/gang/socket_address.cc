#include "executor/gang/socket_address.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>

#include <cerrno>
#include <cstring>
#include <memory>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "base/system/host_port.h"
#include "base/text/field_error.h"
#include "base/text/status_macros.h"

namespace meshwright::gang {
namespace {

// Disables Nagle's algorithm: ranks wait for each small message.
void SendAtOnce(int socket) {
  const int on = 1;
  ::setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
}

}  // namespace

uint16_t SocketAddress::port() const {
  return ntohs(storage.ss_family == AF_INET6
                   ? reinterpret_cast<const sockaddr_in6*>(&storage)->sin6_port
                   : reinterpret_cast<const sockaddr_in*>(&storage)->sin_port);
}

std::string SocketAddress::host() const {
  char text[NI_MAXHOST];
  const int failed =
      ::getnameinfo(get(), size, text, sizeof(text), /*serv=*/nullptr, 0, NI_NUMERICHOST);
  return failed == 0 ? text : "";
}

absl::StatusOr<SocketAddress> Resolve(const std::string& host, uint16_t port) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  const int error = ::getaddrinfo(host.c_str(), std::to_string(port).c_str(), &hints, &found);
  if (error != 0) {
    return absl::UnavailableError(
        absl::StrCat("the address of ", host, " can't be found: ", ::gai_strerror(error)));
  }
  const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> owner(found, &::freeaddrinfo);
  SocketAddress address{.storage = {}, .size = found->ai_addrlen};
  std::memcpy(&address.storage, found->ai_addr, found->ai_addrlen);
  return address;
}

absl::StatusOr<SocketAddress> ResolveHostPort(const std::string& text) {
  const absl::StatusOr<HostPort> address = ParseHostPort(text);
  if (!address.ok() || address->port == 0) {
    return FieldError("rendezvous", text, "must be host:port");
  }
  return Resolve(ResolvableHost(*address), static_cast<uint16_t>(address->port));
}

SocketAddress Loopback(uint16_t port) {
  SocketAddress address{.storage = {}, .size = sizeof(sockaddr_in)};
  auto* inet = reinterpret_cast<sockaddr_in*>(&address.storage);
  inet->sin_family = AF_INET;
  inet->sin_port = htons(port);
  inet->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

absl::StatusOr<UniqueFd> OpenSocket(const SocketAddress& address) {
  UniqueFd socket(
      ::socket(address.storage.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!socket.is_open()) return SocketError("socket");
  return socket;
}

void SetNonBlocking(const UniqueFd& socket) {
  ::fcntl(socket.get(), F_SETFL, ::fcntl(socket.get(), F_GETFL) | O_NONBLOCK);
}

absl::StatusOr<UniqueFd> Dial(const SocketAddress& address) {
  ASSIGN_OR_RETURN(UniqueFd socket, OpenSocket(address));
  SendAtOnce(socket.get());
  if (::connect(socket.get(), address.get(), address.size) != 0 && errno != EINPROGRESS) {
    return SocketError("connect");
  }
  return socket;
}

UniqueFd Accept(int listener) {
  UniqueFd socket(::accept4(listener, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
  if (socket.is_open()) SendAtOnce(socket.get());
  return socket;
}

bool IsForLater(int error) { return error == EAGAIN || error == EWOULDBLOCK || error == EINTR; }

absl::Status SocketError(absl::string_view what) {
  return absl::UnavailableError(absl::StrCat(what, ": ", std::strerror(errno)));
}

}  // namespace meshwright::gang
