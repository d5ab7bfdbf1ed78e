// AgentPool holds the agents with free devices to which a sweep's trials may go, and divides a
// trial's ranks over them.
//
// Callers may rely on:
// - A trial gets all of its ranks or none, on devices that nothing else uses.
// - If one connected agent has enough devices, the trial runs on one agent. Among equal agents, one
//   that runs nothing is preferred.
// - Otherwise the trial is divided over as few agents as possible, all of which run nothing else.
//   The agents with the most devices come first, and each agent gets consecutive ranks.
//   Tensor-parallel groups stay inside one agent if possible. The numbers of ranks per agent are
//   the same as if all connected agents were idle, so that trials of a sweep are comparable.
// - Only agents of one version that can reach each other share a trial, and only trials of
//   Meshwright's own workers or of a runner whose command runs on several nodes are shared. The
//   agents that share a runner's trial get equally many ranks.
// - An agent that broke an attempt of the trial (ActiveTrial::BrokeOn()) gets no rank of the trial.
//   An agent that lost an attempt of the trial (ActiveTrial::WasLostBy()) gets ranks only if the
//   other connected agents could not run the trial.
// - The same agents give the same answer.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "base/system/monotonic_time.h"
#include "db/records.h"
#include "server/engine/active_sweep.h"
#include "server/engine/connected_agents.h"
#include "server/engine/engine_options.h"

namespace meshwright::server {

// Names of agents that are kept for trials of other sweeps.
using Reserved = std::set<std::string>;

class AgentPool {
 public:
  // Takes each agent that (1) suits the sweep (Suits()), (2) has a free slot, (3) takes trials, (4)
  // is not reserved, and (5) was heard from within the last kMissedHeartbeats heartbeats. REQUIRES:
  // the sweep and the agents outlive the pool.
  AgentPool(MonotonicTime now, const ActiveSweep& sweep, const ConnectedAgents& agents,
            const Reserved& reserved, const EngineOptions& options);

  bool has_room() const { return !rooms_.empty(); }
  // Assigns the trial's ranks and takes their devices. Returns an empty list if they can't be
  // assigned now.
  std::vector<db::AttemptMember> Take(const ActiveTrial& trial);
  // Does what Take() does, for a trial that has not been chosen yet.
  std::vector<db::AttemptMember> TakeForOne() { return Take(ActiveTrial()); }
  // Returns the agents that the trial gets once running trials end, and removes these agents from
  // the pool, so that no other trial gets them. The pool does this for one trial only: later calls
  // return an empty list.
  std::vector<std::string> Keep(const ActiveTrial& trial);

 private:
  // An agent with a free slot.
  struct Room {
    const AgentInfo* agent;
    FreeDevices free;
  };

  const Room* RoomOf(const std::string& agent) const;
  bool IsIdle(const AgentInfo* agent) const;
  std::vector<const AgentInfo*> IdleOf(std::vector<const AgentInfo*> agents) const;
  // Returns the ranks assigned to one agent; empty if no agent has enough free devices.
  std::vector<db::AttemptMember> Alone(const ActiveTrial& trial) const;
  // Returns the ranks assigned to several idle agents; empty if that is not possible.
  std::vector<db::AttemptMember> Together(const ActiveTrial& trial) const;

  const ActiveSweep& sweep_;
  const ConnectedAgents& agents_;
  std::vector<Room> rooms_;  // by name
  // Tensor-parallel degrees of trials without an earlier attempt for which the pool found no
  // agents. The pool would find no agents for other such trials of the same degree either.
  std::set<int32_t> hopeless_tp_;
  bool keeps_ = false;
};

// Returns whether the connected agents that take trials, except `without`, could run the trial if
// all of them were idle.
bool CouldRun(const ActiveTrial& trial, const ActiveSweep& sweep, const ConnectedAgents& agents,
              const std::string& without);

// Returns whether the agent has what the sweep's trials need: the kind of device, and the runner.
// No agent suits a sweep whose trials callers run.
bool Suits(const AgentInfo& agent, const ActiveSweep& sweep);

// Returns true if a trial of the sweep may be divided over this agent and others, provided that
// they can reach each other. REQUIRES: Suits(agent, sweep).
bool RunsOnSeveralNodes(const AgentInfo& agent, const ActiveSweep& sweep);

// Returns which agent would get which ranks of one of the sweep's trials if all `agents` were idle.
// Among agents with equally many devices, the first agents get ranks. Returns an empty list if the
// agents can't take all ranks.
std::vector<db::AttemptMember> DivideRanks(const ActiveSweep& sweep, int64_t tp,
                                           const std::vector<const AgentInfo*>& agents);

}  // namespace meshwright::server
