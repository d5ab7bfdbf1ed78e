// Scaling decides how many nodes the waiting trials can use, and WhoMayGo() decides which jobs may
// be let go, which ends their agents. Neither needs a clock, a queue or an engine.
//
// Callers may rely on:
// - The number of nodes is at least min_nodes and at most max_nodes.
// - The number of nodes is the largest that was wanted within the last `idle`. A short drop in
//   demand therefore cancels no queued job, which would lose its place.
// - An agent may be let go only after it was idle for `idle`.
// - Trials that fit on idle agents which somebody else started don't count as demand.
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
  std::string kind;  // cpu or cuda
  // Number of devices; 0 until an agent reports it. While it is 0, each waiting sweep gets one
  // node.
  int32_t count = 0;
};

struct NodesWanted {
  int32_t nodes = 0;
  std::string why;
  // One message for each sweep whose trials need more devices than there can be.
  std::vector<std::string> too_large;
};

class Scaling {
 public:
  // `names` are the names of the fleet's agents.
  Scaling(const ScalingLimits& limits, NodeDevices node, std::set<std::string> names)
      : limits_(limits), node_(std::move(node)), names_(std::move(names)) {}

  // Returns the number of nodes that are wanted now.
  NodesWanted Look(MonotonicTime now, const server::EngineDemand& demand);

 private:
  // A time, and the number of nodes that was wanted then. All numbers since then were smaller.
  struct Peak {
    MonotonicTime when;
    int32_t nodes = 0;
  };

  bool IsOwn(const server::AgentLoad& agent) const { return names_.contains(agent.name); }
  // Returns the number of nodes for the sweep's waiting trials. `others` are idle agents that
  // somebody else started; agents that take trials of the sweep are removed from `others`.
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

// A job of the fleet and the agents that it runs.
struct FleetJob {
  AgentJob job;
  std::vector<std::string> agents;
};

// Returns the number of agents that running jobs lack although others of the same job are there:
// agents that get no trials, and agents that have not connected, or are gone, `patience` after the
// job began to run. Nothing replaces such an agent until its job ends.
int32_t MissingAgents(MonotonicTime now, const std::vector<FleetJob>& jobs,
                      const server::EngineDemand& demand, absl::Duration patience);

// Jobs that may be let go, by name. Each list is in the order in which to let them go.
struct MayGo {
  std::vector<std::string> closed;  // all agents are drained or quarantined; all jobs may go
  std::vector<std::string> spare;   // at most `most_spare` of them
  int64_t most_spare = 0;
};
// Returns the jobs that may be let go because all of their agents have been idle for `idle`.
// `wanted` is the number of jobs that are wanted.
MayGo WhoMayGo(MonotonicTime now, const std::vector<FleetJob>& jobs, int32_t wanted,
               const server::EngineDemand& demand, absl::Duration idle);

}  // namespace meshwright::cli
