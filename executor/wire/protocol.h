// The version of the protocol between agents and servers.
#pragma once

#include <cstdint>
#include <string>

#include "absl/status/status.h"

namespace meshwright::wire {

// The protocol's number. It grows when a message changes its meaning, not when fields are added
// that receivers may ignore. 1: outcomes, device kinds and operations are enumerations. 2: a result
// carries its assignment's token, and heartbeats are acknowledged. 3: an assignment may be for some
// of a trial's ranks.
inline constexpr int32_t kAgentProtocol = 3;

// InvalidArgument about `register.protocol` for an agent of version `version` that speaks another
// protocol: says which side is older, and what to do.
absl::Status CheckAgentProtocol(int32_t protocol, const std::string& version);

// The same check by an agent, of the server at `address`.
absl::Status CheckServerProtocol(int32_t protocol, const std::string& address);

}  // namespace meshwright::wire
