// How much an engine has in hand.
#pragma once

#include <cstdint>

namespace meshwright::server {

// Of the sweeps that have not ended and the agents that are connected.
struct EngineFigures {
  int64_t sweeps = 0;
  int64_t pending_trials = 0;
  int64_t held_trials = 0;  // given to an agent
  int64_t idle_agents = 0;
  int64_t busy_agents = 0;
  bool store_is_up = true;
};

}  // namespace meshwright::server
