// EngineDemand says which trials wait for agents and which agents there are. From this,
// tools/cli/serve decides which agents to start and to release.
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
  int64_t devices = 0;  // of one trial
  // Trials that could run simultaneously if there were agents for all, including trials that may
  // still be chosen.
  int64_t waiting_trials = 0;
  // Names of agents with free devices that may run no waiting trial, because every waiting trial
  // had an infrastructure fault on that agent.
  std::set<std::string> unfit = {};
};

// A connected agent.
struct AgentLoad {
  std::string name;
  std::string device_kind;
  int32_t devices = 0;
  bool takes_trials = true;
  bool busy = false;
  MonotonicTime idle_since = {};  // if it is not busy
};

struct EngineDemand {
  std::vector<SweepDemand> sweeps;  // those with waiting trials, the oldest first
  std::vector<AgentLoad> agents;    // by name
  // Names of agents that were drained or quarantined, connected or not.
  std::set<std::string> closed;
};

}  // namespace meshwright::server
