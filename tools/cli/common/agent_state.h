// Finds the folders where this user's agents keep state beyond the life of their process.
#pragma once

#include <string>

namespace meshwright::cli {

// Returns the folder that all agents of the user share on all machines, by the same convention as
// other programs' state; empty where the environment names no home.
std::string SharedStateDir();

// Returns the state folder of the agent `name` at one server: `chosen` or, where that is empty, a
// folder for this pair in the shared folder. An agent of another name, or for another server, is
// another agent.
std::string AgentStateDir(const std::string& chosen, const std::string& name,
                          const std::string& server);

}  // namespace meshwright::cli
