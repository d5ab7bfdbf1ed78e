// What work waits for agents and which agents are there: for whoever brings agents up and lets them
// go (tools/cli/serve).
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "base/system/monotonic_time.h"

namespace meshwright::server {

struct SweepDemand {
  std::string sweep;
  std::string device_kind;
  int64_t devices = 0;  // of a trial
  // That could run at once if agents were there for all, those that may still be chosen among them.
  int64_t waiting_trials = 0;
  // Agents with free devices that none of them may go to, for what they run on failed under each.
  std::set<std::string> unfit = {};
};

// An agent that is connected.
struct AgentLoad {
  std::string name;
  std::string device_kind;
  int32_t devices = 0;
  bool takes_trials = true;
  bool busy = false;
  MonotonicTime idle_since = {};  // where it is not busy
};

struct EngineDemand {
  std::vector<SweepDemand> sweeps;  // that have such trials, the oldest first
  std::vector<AgentLoad> agents;    // by name
  // Names of agents that were drained or set aside, connected or not.
  std::set<std::string> closed;
};

}  // namespace meshwright::server
