// The idle agents that a sweep's trials may go to, and how the ranks of a trial are divided over
// them.
//
// Callers may rely on: a trial gets all of its ranks at once or none, from one agent where a
// connected one has the devices, else from as few as any connected ones could, so that trials of a
// sweep compare: several agents are given ranks that follow each other, the groups of tp inside one
// of them where that is possible, and only agents of one version that can reach each other. An
// agent that what it runs on failed under the trial gets no rank of it, and one that vanished with
// it only where the others that are connected could not run it. The same agents give the same
// answer. The agents must outlive the pool.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "db/records.h"
#include "executor/host/monotonic_time.h"
#include "server/engine/active_sweep.h"
#include "server/engine/connected_agents.h"
#include "server/engine/engine_options.h"

namespace meshwright::server {

// Agents that are kept for what another sweep waits for.
using Reserved = std::set<std::string>;

class AgentPool {
 public:
  // Idle are those that hold nothing, are not reserved and were heard of within the last two
  // heartbeats.
  AgentPool(host::MonotonicTime now, const ActiveSweep& sweep, const ConnectedAgents& agents,
            const Reserved& reserved, const EngineOptions& options);

  bool has_idle() const;
  // Who gets which ranks of the trial now; they are idle no more. Empty where nobody does.
  std::vector<db::AttemptMember> Take(const ActiveTrial& trial);
  // The same for a trial that has not been chosen yet.
  std::vector<db::AttemptMember> TakeForOne();
  // Idle agents that the trial would get once others are idle, too.
  std::vector<std::string> WaitsWith(const ActiveTrial& trial) const;
  std::vector<std::string> WaitsWithForOne() const;

 private:
  struct Candidate {
    const AgentInfo* info = nullptr;
    bool is_idle = false;
  };
  using Candidates = std::vector<Candidate>;

  // Agents that may take ranks of the trial, idle or not.
  Candidates For(const ActiveTrial& trial) const;
  std::vector<db::AttemptMember> TakeOf(const Candidates& candidates, int64_t tp);
  std::vector<std::string> WaitsOf(const Candidates& candidates, int64_t tp) const;

  const ActiveSweep& sweep_;
  Candidates open_;  // that get trials, by name; empty where none is idle
};

// Who would get which ranks of the trial if all connected agents that get trials were idle, all but
// `without`; empty where they could not run it.
std::vector<db::AttemptMember> CouldRun(const ActiveTrial& trial, const ActiveSweep& sweep,
                                        const ConnectedAgents& agents,
                                        const std::string& without = "");

// Who would get which of `ranks` if all of `agents` were idle, the first of them where several have
// as many devices. Empty where they can't take them.
std::vector<db::AttemptMember> DivideRanks(int64_t ranks, int64_t tp,
                                           const std::vector<const AgentInfo*>& agents);

}  // namespace meshwright::server
