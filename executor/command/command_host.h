// CommandHost is what commands of runners need of the machine on which they run.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "executor/guard/delegated_cgroup.h"

namespace meshwright::command {

struct CommandHost {
  std::string guard;        // path of the program that is the guard (executor/guard/guard.h)
  std::string work_folder;  // in which each run gets a folder of its own
  // Returns a variable of the agent's environment.
  std::function<std::optional<std::string>(const std::string& name)> environment;
  // Makes the control group of a run whose processes may together hold `memory_limit_bytes` (0: no
  // limit), nullopt if there is none to be had. Empty: runs have no groups.
  std::function<std::optional<guard::RunGroup>(int64_t memory_limit_bytes)> make_group = {};
};

}  // namespace meshwright::command
