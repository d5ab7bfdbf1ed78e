// The agents with free devices that a sweep's trials may go to, and how the ranks of a trial are
// divided over them.
//
// Callers may rely on: a trial gets all of its ranks at once or none, on devices that nothing else
// has. It gets one agent where a connected one has the devices, and of several that are alike one
// that runs nothing before one that does; else it gets agents that run nothing, and is divided as
// it would be over all connected ones, whoever of them is idle, so that trials of a sweep compare:
// over as few as have the devices, those with the most first, each with ranks that follow each
// other and the groups of tp inside one agent where that is possible. Only agents of one version
// that can reach each other share a trial. An agent that what it runs on failed under the trial
// gets no rank of it, and one that vanished with it only where the others that are connected could
// not run it. The same agents give the same answer. The agents and the sweep must outlive the pool.
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
  // Those with a free slot that are not reserved and were heard of within the last two heartbeats.
  AgentPool(MonotonicTime now, const ActiveSweep& sweep, const ConnectedAgents& agents,
            const Reserved& reserved, const EngineOptions& options);

  bool has_room() const { return !rooms_.empty(); }
  // Who gets which ranks of the trial now, on devices that are free no more. Empty where nobody
  // does.
  std::vector<db::AttemptMember> Take(const ActiveTrial& trial);
  // The same for a trial that has not been chosen yet.
  std::vector<db::AttemptMember> TakeForOne() { return Take(ActiveTrial()); }
  // Agents here that the trial gets once they run nothing else, and others don't either. They are
  // kept for it: nobody else finds them here. Of trials that wait only the first one's are kept.
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
  // One agent; idle agents together.
  std::vector<db::AttemptMember> Alone(const ActiveTrial& trial) const;
  std::vector<db::AttemptMember> Together(const ActiveTrial& trial) const;

  const ActiveSweep& sweep_;
  const ConnectedAgents& agents_;
  std::vector<Room> rooms_;  // by name
  // Of trials that were given to nobody before: with this tp no further one finds its agents.
  std::set<int32_t> hopeless_tp_;
  bool keeps_ = false;
};

// Whether connected agents that get trials, but for `without`, could run the trial if all were
// idle.
bool CouldRun(const ActiveTrial& trial, const ActiveSweep& sweep, const ConnectedAgents& agents,
              const std::string& without);

// Who would get which of `ranks` if all of `agents` were idle, the first of them where several have
// as many devices. Empty where they can't take them.
std::vector<db::AttemptMember> DivideRanks(int64_t ranks, int64_t tp,
                                           const std::vector<const AgentInfo*>& agents);

}  // namespace meshwright::server
