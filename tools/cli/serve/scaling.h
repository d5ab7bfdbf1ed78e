// How many nodes the work that waits can use, and which agents may go: decisions without a clock, a
// queue or an engine.
//
// Callers may rely on: never more nodes than the most, never fewer than the least; what was wanted
// at any moment of the last `idle` still is, so that a queue that is empty for a moment costs
// nobody their place in Slurm's; an agent goes only after it held nothing for `idle`. Agents that
// somebody else brought up get their share of the work before a node is wanted for it.
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

// Of each node's agent.
struct NodeDevices {
  std::string kind;   // cpu or cuda
  int32_t count = 0;  // 0: not known before an agent says; until then one node is wanted at most
};

struct NodesWanted {
  int32_t nodes = 0;
  std::string why;
  // Sentences about trials that all nodes together have too few devices for.
  std::vector<std::string> too_large;
};

class Scaling {
 public:
  // `names`: of the fleet's agents.
  Scaling(const ScalingLimits& limits, NodeDevices node, std::set<std::string> names)
      : limits_(limits), node_(std::move(node)), names_(std::move(names)) {}

  NodesWanted Look(MonotonicTime now, const server::EngineDemand& demand);

 private:
  // The number that was wanted at a moment, none of a later one being as large.
  struct Peak {
    MonotonicTime when;
    int32_t nodes = 0;
  };

  bool IsOwn(const server::AgentLoad& agent) const { return names_.contains(agent.name); }
  // For the sweep's waiting trials. `others`: agents of somebody else that are idle; those that
  // take trials of the sweep leave it.
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

// Agents whose jobs may go, each list in the order in which they are to be asked.
struct MayGo {
  std::vector<std::string> closed;  // they get no trials: all of them
  std::vector<std::string> spare;   // at most `most_spare` of them
  int64_t most_spare = 0;
};
MayGo WhoMayGo(MonotonicTime now, const std::vector<AgentJob>& jobs, int32_t wanted,
               const server::EngineDemand& demand, absl::Duration idle);

}  // namespace meshwright::cli
