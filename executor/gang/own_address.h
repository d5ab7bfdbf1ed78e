// The address by which this host is known where it is going.
#pragma once

#include <string>

#include "absl/status/statusor.h"

namespace meshwright::gang {

// The numeric address from which this host sends to `peer`, "host:port": what others on the way
// there reach it by, unless something between them translates addresses. Nothing is sent. A name is
// looked up, which may take seconds. Unavailable where there is no way there.
absl::StatusOr<std::string> AddressTowards(const std::string& peer);

// The numeric form of `address`, a numeric address or a name, at which this host can be met.
// InvalidArgument for one that stands for every address of the host, Unavailable where no socket
// can listen there. A name is looked up.
absl::StatusOr<std::string> OwnAddress(const std::string& address);

}  // namespace meshwright::gang
