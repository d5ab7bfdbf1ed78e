// Placement decides which pending trial goes to which agents with free devices, and says what a
// sweep waits for. Its functions depend on the engine's state alone. They also give the reasons
// that are stored and shown.
//
// Callers may rely on:
// - A slot of an agent gets at most one trial. A drained or quarantined agent gets none.
// - Inside a sweep, pending trials are placed in the order of their numbers, before any candidate
//   is chosen (server/engine/choosing.h).
// - The same input gives the same answer.
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

// Version of the rules below, stored with every decision.
inline constexpr int32_t kPlacementPolicyVersion = 4;

struct Placement {
  int32_t trial = 0;
  std::vector<db::AttemptMember> members;
  std::string reason;

  friend bool operator==(const Placement&, const Placement&) = default;
};

// Returns the first of the sweep's pending trials that agents of the pool can take, and takes these
// agents' devices from the pool. Returns nullopt if there is no such trial. Keeps the agents that
// the first waiting trial gets later (AgentPool::Keep()), and adds them to `reserved`.
std::optional<Placement> PlaceNext(const ActiveSweep& sweep, AgentPool& pool, Reserved& reserved);

// Returns why a pending trial is the sweep's next trial.
std::string WhyPendingIsNext(const ActiveTrial& trial);

// Returns a message for a caller whose attempt is over: why the caller no longer has it, and what
// to do.
std::string LeaseHasEnded(int32_t attempt, const ActiveTrial& trial);

// Returns why a trial goes to these agents; `why_next` says why it is the next.
std::string PlacementReason(const std::string& why_next,
                            const std::vector<db::AttemptMember>& members,
                            const ActiveSweep& sweep);

// The reason why no agent takes a sweep's next trial.
struct WaitReason {
  std::string text;
  bool is_for_a_turn = false;  // fitting agents are connected, but other trials use their devices
};
// Returns what the sweep's next trial waits for.
WaitReason WhyItWaits(const ActiveSweep& sweep, const ConnectedAgents& agents);

// Returns the reason with which a sweep finishes once all its trials have ended. It has the counts
// ("3 trials: 2 ok, 1 oom") and says why there are no more trials.
std::string FinishReason(const ActiveSweep& sweep);

// The next state of a held trial whose attempt gives no result.
struct AfterLoss {
  bool fails = false;                 // the trial fails; otherwise it is pending again
  std::string reason;                 // how the attempt ended, and what comes next
  bool for_want_of_an_agent = false;  // the trial fails because no other agent could run it

  friend bool operator==(const AfterLoss&, const AfterLoss&) = default;
};
// Decides what becomes of a trial when an agent that held it is gone. `why` says how the attempt
// ended.
AfterLoss DecideAfterLoss(const ActiveTrial& trial, const std::string& why,
                          const EngineOptions& options);
// Returns what becomes of a trial that is given back; `why` says how the attempt ended.
AfterLoss AfterReturn(const ActiveTrial& trial, const std::string& why);
// Decides what becomes of a trial after an infrastructure fault of `agent`, which holds some of the
// trial's ranks. The trial fails if it had too many such faults or if no other connected agents
// could run it.
AfterLoss DecideAfterFault(const ActiveTrial& trial, const std::string& agent,
                           const std::string& why, const ActiveSweep& sweep,
                           const ConnectedAgents& agents, const EngineOptions& options);

}  // namespace meshwright::server
