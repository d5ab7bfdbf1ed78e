// Scaling decides how many nodes the waiting trials can use, and which agents may go, without a
// clock, a queue or an engine.
//
// Callers may rely on: the number of nodes is between the least and the most; a number wanted at
// any moment of the last `idle` is still wanted, so that demand that vanishes for a moment costs no
// job its place in Slurm's queue; an agent goes only after it held nothing for `idle`. Agents that
// somebody else started get their share of the work before a node is wanted for it.
#pragma once

#include <cstdint>
#include <deque>
#include <set>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "base/system/monotonic_time.h"
#include "server/engine/engine_demand.h"
#include "tools/cli/launcher/agent_jobs.h"

namespace meshwright::cli {

struct ScalingLimits {
  int32_t min_nodes = 0;
  int32_t max_nodes = 0;
  absl::Duration idle = absl::Minutes(5);
};

// The devices of each node's agent.
struct NodeDevices {
  std::string kind;   // cpu or cuda
  int32_t count = 0;  // 0: unknown until an agent reports it; until then at most one node is wanted
};

struct NodesWanted {
  int32_t nodes = 0;
  std::string why;
  // Sentences about trials that need more devices than all nodes together have.
  std::vector<std::string> too_large;
};

class Scaling {
 public:
  // `names`: of the fleet's agents.
  Scaling(const ScalingLimits& limits, NodeDevices node, std::set<std::string> names)
      : limits_(limits), node_(std::move(node)), names_(std::move(names)) {}

  NodesWanted Look(MonotonicTime now, const server::EngineDemand& demand);

 private:
  // The number wanted at a moment; no later number is as large.
  struct Peak {
    MonotonicTime when;
    int32_t nodes = 0;
  };

  bool IsOwn(const server::AgentLoad& agent) const { return names_.contains(agent.name); }
  // Returns the nodes for the sweep's waiting trials. `others`: idle agents of somebody else; those
  // that take trials of the sweep are removed.
  int64_t NodesFor(const server::SweepDemand& sweep, const server::EngineDemand& demand,
                   std::vector<const server::AgentLoad*>& others, NodesWanted& wanted) const;
  int64_t NodesForLargeTrials(const server::SweepDemand& sweep, const server::EngineDemand& demand,
                              NodesWanted& wanted) const;
  int32_t PeakOf(MonotonicTime now, int32_t nodes);

  const ScalingLimits limits_;
  NodeDevices node_;
  const std::set<std::string> names_;
  std::deque<Peak> peaks_;  // of the last `idle`, the largest first
};

// Agents whose jobs may go, each list in the order in which to ask them.
struct MayGo {
  std::vector<std::string> closed;  // get no trials: all of them may go
  std::vector<std::string> spare;   // at most `most_spare` of them
  int64_t most_spare = 0;
};
MayGo WhoMayGo(MonotonicTime now, const std::vector<AgentJob>& jobs, int32_t wanted,
               const server::EngineDemand& demand, absl::Duration idle);

}  // namespace meshwright::cli
