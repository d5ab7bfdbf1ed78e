// Which pending trial goes to which idle agent, and what a sweep waits for: pure functions of what
// the engine knows, each with the reason that is stored and shown.
//
// Callers may rely on: an agent gets at most one trial; older sweeps come first, and inside a sweep
// the trials in order of their number; the same input gives the same answer. An agent that vanished
// with a trial gets it again only where no other connected agent could run it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "executor/host/monotonic_time.h"
#include "server/engine/active_sweep.h"
#include "server/engine/connected_agents.h"
#include "server/engine/engine_options.h"

namespace meshwright::server {

struct Placement {
  int32_t trial = 0;
  std::string agent;
  std::string reason;

  friend bool operator==(const Placement&, const Placement&) = default;
};

// Hands the sweep's pending trials to idle agents that were heard of within the last two
// heartbeats.
std::vector<Placement> PlaceTrials(host::MonotonicTime now, const ActiveSweep& sweep,
                                   const ConnectedAgents& agents, const EngineOptions& options);

// Why no agent takes the sweep's next trial.
std::string WaitReason(const ActiveSweep& sweep, const ConnectedAgents& agents);

// "3 trials: 2 ok, 1 oom", of a sweep whose trials have all ended.
std::string FinishReason(const ActiveSweep& sweep);

// What becomes of a held trial whose agent is gone.
struct AfterLoss {
  bool fails = false;  // its agents vanished too often; otherwise it is pending again
  std::string reason;  // `why` says how it went

  friend bool operator==(const AfterLoss&, const AfterLoss&) = default;
};
AfterLoss DecideAfterLoss(const ActiveTrial& trial, const std::string& why,
                          const EngineOptions& options);

}  // namespace meshwright::server
