// Finds the address under which other hosts reach this one.
#pragma once

#include <string>

#include "absl/status/statusor.h"

namespace meshwright::gang {

// Returns the numeric address from which this host sends to `peer` ("host:port"): hosts on that
// network reach it there, unless addresses are translated in between. Sends nothing. Resolves a
// name, which may take seconds. Unavailable where there is no route.
absl::StatusOr<std::string> AddressTowards(const std::string& peer);

// Returns the numeric form of `address`, a numeric address or a name of this host. InvalidArgument
// for a wildcard address, Unavailable where no socket can listen there. Resolves a name.
absl::StatusOr<std::string> OwnAddress(const std::string& address);

}  // namespace meshwright::gang
