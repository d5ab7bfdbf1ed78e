// AgentStateDir() and SharedStateDir() return the folders of the state that this user's agents keep
// after their processes end.
#pragma once

#include <string>

namespace meshwright::cli {

// Returns the folder that all agents of the user share on all machines with the same home:
// meshwright/ below XDG_STATE_HOME or ~/.local/state. Returns an empty path if the environment
// names no home.
std::string SharedStateDir();

// Returns the folder in which the agent `name` keeps its state for one server. This is `chosen` or,
// if `chosen` is empty, a folder in SharedStateDir() whose name holds the agent's name and the
// server's address.
std::string AgentStateDir(const std::string& chosen, const std::string& name,
                          const std::string& server);

}  // namespace meshwright::cli
