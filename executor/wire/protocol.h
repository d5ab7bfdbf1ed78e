// Which agents and servers understand each other.
#pragma once

#include <cstdint>
#include <string>

#include "absl/status/status.h"

namespace meshwright::wire {

// The number of the messages between agents and servers. It grows where a message changes its
// meaning; fields that others may pass over leave it. 1: outcomes, kinds of devices and operations
// are enumerations. 2: a result brings its assignment's token, and heartbeats are acknowledged. 3:
// an assignment may be for some of a trial's ranks.
inline constexpr int32_t kAgentProtocol = 3;

// InvalidArgument about `register.protocol` for an agent, of version `version`, that speaks another
// one: says which of the two is the older, and what to do.
absl::Status CheckAgentProtocol(int32_t protocol, const std::string& version);

// The same for an agent about the server at `address`.
absl::Status CheckServerProtocol(int32_t protocol, const std::string& address);

}  // namespace meshwright::wire
