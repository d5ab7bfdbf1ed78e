// Which pending trial goes to which agents with free devices, and what a sweep waits for: pure
// functions of what the engine knows, each with the reason that is stored and shown.
//
// Callers may rely on: a slot of an agent gets at most one trial; inside a sweep the pending trials
// come in order of their number, before a candidate is chosen (server/engine/choosing.h); the same
// input gives the same answer. An agent that was drained or set aside gets nothing.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "db/records.h"
#include "server/engine/active_sweep.h"
#include "server/engine/agent_pool.h"
#include "server/engine/connected_agents.h"
#include "server/engine/engine_options.h"

namespace meshwright::server {

// Counts the versions of the rules below, so that a decision that is stored says which it followed.
inline constexpr int32_t kPlacementPolicyVersion = 4;

struct Placement {
  int32_t trial = 0;
  std::vector<db::AttemptMember> members;
  std::string reason;

  friend bool operator==(const Placement&, const Placement&) = default;
};

// The first of the sweep's pending trials that agents of its pool can take, which they leave.
// Nothing where there is none. What the first one that has to wait gets once others are idle is
// kept for it and becomes reserved.
std::optional<Placement> PlaceNext(const ActiveSweep& sweep, AgentPool& pool, Reserved& reserved);

// Why a trial goes to these agents: `why_next` is why it is the next.
std::string PlacementReason(const std::string& why_next,
                            const std::vector<db::AttemptMember>& members,
                            const ActiveSweep& sweep);

// Why no agent takes a sweep's next trial.
struct WaitReason {
  std::string text;
  bool is_for_a_turn = false;  // there are agents for it, and other trials have their devices
};
WaitReason WhyItWaits(const ActiveSweep& sweep, const ConnectedAgents& agents);

// "3 trials: 2 ok, 1 oom", and why there are no more, of a sweep whose trials have all ended.
std::string FinishReason(const ActiveSweep& sweep);

// What becomes of a held trial whose attempt gives no result.
struct AfterLoss {
  bool fails = false;                 // it is at its end; otherwise it is pending again
  std::string reason;                 // `why` says how it went
  bool for_want_of_an_agent = false;  // it fails since no other agent is connected

  friend bool operator==(const AfterLoss&, const AfterLoss&) = default;
};
// An agent that held it is gone.
AfterLoss DecideAfterLoss(const ActiveTrial& trial, const std::string& why,
                          const EngineOptions& options);
// What `agent`, which holds ranks of it, runs on failed. It fails where that happened too often,
// and where no other agents that are connected could run it.
AfterLoss DecideAfterFault(const ActiveTrial& trial, const std::string& agent,
                           const std::string& why, const ActiveSweep& sweep,
                           const ConnectedAgents& agents, const EngineOptions& options);

}  // namespace meshwright::server
