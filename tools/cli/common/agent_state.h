// Where agents of this user keep what outlives their process.
#pragma once

#include <string>

namespace meshwright::cli {

// What all agents of the user on all machines share, as for other programs' state; empty where the
// environment names no home.
std::string SharedStateDir();

// The folder of the agent `name` at one server: `chosen`, or, where that is empty, one for both in
// the shared folder. Of another name, or for another server, an agent is another one.
std::string AgentStateDir(const std::string& chosen, const std::string& name,
                          const std::string& server);

}  // namespace meshwright::cli
