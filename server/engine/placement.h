// Which pending trial goes to which idle agent, and what a sweep waits for: pure functions of what
// the engine knows, each with the reason that is stored and shown.
//
// Callers may rely on: an agent gets at most one trial; older sweeps come first, and inside a sweep
// the pending trials in order of their number, before a candidate is chosen
// (server/engine/choosing.h); the same input gives the same answer. An agent that was
// drained or set aside gets nothing. One that vanished with a trial gets it again only where no
// other connected agent could run it; one that failed with it for what it runs on never does.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "executor/host/monotonic_time.h"
#include "server/engine/active_sweep.h"
#include "server/engine/connected_agents.h"
#include "server/engine/engine_options.h"

namespace meshwright::server {

// Counts the versions of the rules below, so that a decision that is stored says which it followed.
inline constexpr int32_t kPlacementPolicyVersion = 2;

struct Placement {
  int32_t trial = 0;
  std::string agent;
  std::string reason;

  friend bool operator==(const Placement&, const Placement&) = default;
};

// Agents that wait for what an older sweep chooses.
using Reserved = std::set<std::string>;

// Names of idle agents that could run a trial of the sweep, are not reserved and were heard of
// within the last two heartbeats.
std::vector<std::string> AgentsFor(host::MonotonicTime now, const ActiveSweep& sweep,
                                   const ConnectedAgents& agents, const Reserved& reserved,
                                   const EngineOptions& options);

// Hands the sweep's pending trials to them.
std::vector<Placement> PlaceTrials(host::MonotonicTime now, const ActiveSweep& sweep,
                                   const ConnectedAgents& agents, const Reserved& reserved,
                                   const EngineOptions& options);

// Why a trial goes to an agent: `why_next` is why it is the next.
std::string PlacementReason(const std::string& why_next, const std::string& agent,
                            const ActiveSweep& sweep);

// Why no agent takes the sweep's next trial.
std::string WaitReason(const ActiveSweep& sweep, const ConnectedAgents& agents);

// "3 trials: 2 ok, 1 oom", and why there are no more, of a sweep whose trials have all ended.
std::string FinishReason(const ActiveSweep& sweep);

// Heartbeats in a row that an agent may miss before it counts as one that may be gone.
inline constexpr int32_t kMissedHeartbeats = 2;

// What becomes of a held trial whose attempt gives no result.
struct AfterLoss {
  bool fails = false;                 // it is at its end; otherwise it is pending again
  std::string reason;                 // `why` says how it went
  bool for_want_of_an_agent = false;  // it fails since no other agent is connected

  friend bool operator==(const AfterLoss&, const AfterLoss&) = default;
};
// Its agent is gone.
AfterLoss DecideAfterLoss(const ActiveTrial& trial, const std::string& why,
                          const EngineOptions& options);
// What `agent`, which holds it, runs on failed. It fails where that happened too often, and where
// no other agent that is connected could run it.
AfterLoss DecideAfterFault(const ActiveTrial& trial, const std::string& agent,
                           const std::string& why, const ActiveSweep& sweep,
                           const ConnectedAgents& agents, const EngineOptions& options);

}  // namespace meshwright::server
