// OwnAddress() and AddressTowards() find the address at which other hosts reach this host.
#pragma once

#include <string>

#include "absl/status/statusor.h"

namespace meshwright::gang {

// Returns the numeric address from which this host sends to `peer` ("host:port"), without sending
// anything. Hosts on the peer's network reach this host at that address, unless there is NAT
// between them. If `peer` has a name, resolving the name may take seconds. Returns Unavailable if
// there is no route.
absl::StatusOr<std::string> AddressTowards(const std::string& peer);

// Returns the numeric form of `address`, a numeric address or a name of this host. Resolving a name
// may take seconds. Returns InvalidArgument for a wildcard address, and Unavailable if no socket
// can listen at the address.
absl::StatusOr<std::string> OwnAddress(const std::string& address);

}  // namespace meshwright::gang
