// The address by which this host is known where it is going.
#pragma once

#include <string>

#include "absl/status/statusor.h"

namespace meshwright::gang {

// The numeric address from which this host sends to `peer`, "host:port": what others on the way
// there reach it by, unless something between them translates addresses. Nothing is sent. A name is
// looked up, which may take seconds. Unavailable where there is no way there.
absl::StatusOr<std::string> AddressTowards(const std::string& peer);

}  // namespace meshwright::gang
