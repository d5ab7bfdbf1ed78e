// Where agents of this user keep what outlives their process.
#pragma once

#include <string>

namespace meshwright::cli {

// What all agents of the user on all machines share, as for other programs' state; empty where the
// environment names no home.
std::string SharedStateDir();

// The folder of the agent `name`: `chosen`, or, where that is empty, one for its name in the shared
// folder. Of another name, or on another machine with the same home, an agent is another one.
std::string AgentStateDir(const std::string& chosen, const std::string& name);

}  // namespace meshwright::cli
