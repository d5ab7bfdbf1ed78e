// CommandHost holds what a runner's commands need from the machine on which they run.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "executor/guard/delegated_cgroup.h"

namespace meshwright::command {

struct CommandHost {
  std::string guard;        // path of the program that runs the guard (executor/guard/guard.h)
  std::string work_folder;  // in which each run gets a folder of its own
  // Returns the value of a variable in the agent's environment, or nullopt if it is not set.
  std::function<std::optional<std::string>(const std::string& name)> environment;
  // Makes a control group for a run whose processes may together hold `memory_limit_bytes` (0: no
  // limit). Returns nullopt if that fails. If this function is empty, runs have no groups.
  std::function<std::optional<guard::RunGroup>(int64_t memory_limit_bytes)> make_group = {};
};

}  // namespace meshwright::command
