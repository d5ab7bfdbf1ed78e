// EngineFigures holds counts of an engine's work, for metrics.
#pragma once

#include <cstdint>

namespace meshwright::server {

// Counts of the sweeps that have not ended and of the connected agents.
struct EngineFigures {
  int64_t sweeps = 0;
  int64_t pending_trials = 0;
  int64_t held_trials = 0;  // assigned to agents, or running
  int64_t idle_agents = 0;
  int64_t busy_agents = 0;
  bool store_is_up = true;
};

}  // namespace meshwright::server
