// AgentPool holds the agents with free devices that a sweep's trials may go to, and divides the
// ranks of a trial over them.
//
// Callers may rely on: a trial gets all of its ranks at once or none, on devices that nothing else
// uses. Where one connected agent has enough devices, the trial runs on one agent; among equal
// agents, one that runs nothing is preferred. Otherwise it is divided over agents that run nothing,
// in the same way as it would be over all connected ones, so that trials of a sweep are comparable:
// over as few agents as have the devices, those with the most first, each with consecutive ranks
// and with the tp groups inside one agent where that is possible. Only agents of one version that
// can reach each other share a trial. An agent under which the trial failed for a fault in what the
// agent runs on gets no rank of it; one that vanished with it gets ranks only where the other
// connected agents could not run it. Same agents, same answer. The agents and the sweep must
// outlive the pool.
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

// Agents that are kept for what another sweep waits for.
using Reserved = std::set<std::string>;

class AgentPool {
 public:
  // Takes the agents that have a free slot, are not reserved and were heard of within the last two
  // heartbeats.
  AgentPool(MonotonicTime now, const ActiveSweep& sweep, const ConnectedAgents& agents,
            const Reserved& reserved, const EngineOptions& options);

  bool has_room() const { return !rooms_.empty(); }
  // Assigns the trial's ranks now and takes the devices. Empty where they can't be assigned.
  std::vector<db::AttemptMember> Take(const ActiveTrial& trial);
  // The same for a trial that has not been chosen yet.
  std::vector<db::AttemptMember> TakeForOne() { return Take(ActiveTrial()); }
  // Returns the agents of the pool that the trial gets once they, and others, run nothing else.
  // They are kept for it: nobody else gets them from this pool. Only the first waiting trial has
  // agents kept.
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
  // Assigns the trial to one agent; to idle agents together.
  std::vector<db::AttemptMember> Alone(const ActiveTrial& trial) const;
  std::vector<db::AttemptMember> Together(const ActiveTrial& trial) const;

  const ActiveSweep& sweep_;
  const ConnectedAgents& agents_;
  std::vector<Room> rooms_;  // by name
  // The tp degrees of trials without an attempt for which no agents were found: another trial of
  // the same degree finds none either.
  std::set<int32_t> hopeless_tp_;
  bool keeps_ = false;
};

// Whether the connected agents that take trials, except `without`, could run the trial if all were
// idle.
bool CouldRun(const ActiveTrial& trial, const ActiveSweep& sweep, const ConnectedAgents& agents,
              const std::string& without);

// Returns who would get which of `ranks` if all of `agents` were idle; of agents with equally many
// devices the first ones. Empty where they can't take them.
std::vector<db::AttemptMember> DivideRanks(int64_t ranks, int64_t tp,
                                           const std::vector<const AgentInfo*>& agents);

}  // namespace meshwright::server
