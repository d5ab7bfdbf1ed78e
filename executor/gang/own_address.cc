#include "executor/gang/own_address.h"

#include <sys/socket.h>

#include "absl/strings/str_cat.h"
#include "base/system/unique_fd.h"
#include "base/text/status_macros.h"
#include "executor/gang/listener.h"
#include "executor/gang/socket_address.h"

namespace meshwright::gang {
absl::StatusOr<std::string> OwnAddress(const std::string& address) {
  ASSIGN_OR_RETURN(const SocketAddress resolved, Resolve(address, /*port=*/0));
  std::string numeric = resolved.host();
  if (numeric == "0.0.0.0" || numeric == "::") {
    return absl::InvalidArgumentError(
        "a wildcard address does not tell other hosts which address "
        "to use");
  }
  RETURN_IF_ERROR(Listener::Open(numeric).status());
  return numeric;
}

absl::StatusOr<std::string> AddressTowards(const std::string& peer) {
  ASSIGN_OR_RETURN(const SocketAddress to, ResolveHostPort(peer));
  // Connecting a datagram socket only looks up the route.
  const UniqueFd socket(::socket(to.get()->sa_family, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  if (!socket.is_open()) return SocketError("socket");
  if (::connect(socket.get(), to.get(), to.size) != 0) {
    return SocketError(absl::StrCat("the way to ", peer));
  }
  SocketAddress own;
  own.size = sizeof(own.storage);
  if (::getsockname(socket.get(), own.get(), &own.size) != 0) return SocketError("getsockname");
  return own.host();
}

}  // namespace meshwright::gang
