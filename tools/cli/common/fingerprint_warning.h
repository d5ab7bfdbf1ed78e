// WarnOfOtherMachines() warns if a cluster's figures were measured on machines that differ from
// those of a server's agents.
#pragma once

#include <ostream>
#include <vector>

#include "meshwright/v1/agents.pb.h"
#include "planner/spec/cluster_spec.h"

namespace meshwright::cli {

// Writes a line for each agent whose own fingerprint differs from the cluster's in the device, the
// driver, CUDA, NCCL or the host's processor. Agents that did not measure their devices are left
// out.
void WarnOfOtherMachines(const planner::ClusterSpec& cluster, const std::vector<v1::Agent>& agents,
                         std::ostream& err);

}  // namespace meshwright::cli
