// CommandHost is what commands of runners need of the machine on which they run.
#pragma once

#include <functional>
#include <optional>
#include <string>

namespace meshwright::command {

struct CommandHost {
  std::string guard;        // path of the program that is the guard (executor/guard/guard.h)
  std::string work_folder;  // in which each run gets a folder of its own
  // Returns a variable of the agent's environment.
  std::function<std::optional<std::string>(const std::string& name)> environment;
};

}  // namespace meshwright::command
