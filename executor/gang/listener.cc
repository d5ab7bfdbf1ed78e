#include "executor/gang/listener.h"

#include <sys/socket.h>

#include <utility>

#include "absl/strings/str_cat.h"
#include "base/system/host_port.h"
#include "base/text/status_macros.h"
#include "executor/gang/socket_address.h"

namespace meshwright::gang {

absl::StatusOr<std::shared_ptr<Listener>> Listener::Open(const std::string& address) {
  ASSIGN_OR_RETURN(const SocketAddress bound, Resolve(address, /*port=*/0));
  ASSIGN_OR_RETURN(UniqueFd socket, OpenSocket(bound));
  const std::string what = absl::StrCat("listen on ", address);
  if (::bind(socket.get(), bound.get(), bound.size) != 0 ||
      ::listen(socket.get(), SOMAXCONN) != 0) {
    return SocketError(what);
  }
  SocketAddress own;
  own.size = sizeof(own.storage);
  if (::getsockname(socket.get(), own.get(), &own.size) != 0) return SocketError(what);
  return std::shared_ptr<Listener>(new Listener(address, std::move(socket), own.port()));
}

Listener::Listener(std::string address, UniqueFd socket, uint16_t port)
    : address_(std::move(address)), socket_(std::move(socket)), port_(port) {}

std::string Listener::rendezvous() const { return ToText(WithPort(address_, port_)); }

}  // namespace meshwright::gang
