// kAgentProtocol is the version of the protocol between agents and servers.
#pragma once

#include <cstdint>
#include <string>

#include "absl/status/status.h"

namespace meshwright::wire {

// The version grows when a message changes its meaning, but not when fields are added that
// receivers may ignore. Since version 1, outcomes, device kinds and operations are enumerations.
// Since version 2, a result carries its assignment's token, and heartbeats are acknowledged. Since
// version 3, an assignment may be for some of a trial's ranks.
inline constexpr int32_t kAgentProtocol = 3;

// Returns InvalidArgument for `register.protocol` if an agent of version `version` speaks another
// protocol than this server. The error says which side is older and what to do.
absl::Status CheckAgentProtocol(int32_t protocol, const std::string& version);

// Returns InvalidArgument for `registered.protocol` if the server at `address` speaks another
// protocol than this agent. The error says which side is older and what to do.
absl::Status CheckServerProtocol(int32_t protocol, const std::string& address);

}  // namespace meshwright::wire
