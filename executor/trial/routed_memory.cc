#include "executor/trial/routed_memory.h"

#include <algorithm>
#include <limits>

#include "base/text/status_macros.h"
#include "planner/catalog/catalog.h"
#include "planner/memory/rank_memory.h"

namespace meshwright::trial {

absl::StatusOr<int64_t> RoutedBytes(const TrialPlan& plan, int32_t pipeline_rank,
                                    const std::vector<std::vector<planner::ExpertRows>>& steps,
                                    int32_t physical_cores) {
  ASSIGN_OR_RETURN(planner::ClusterSpec cluster,
                   planner::FindCluster("local-cpu", static_cast<int32_t>(plan.layout.devices())));
  // Of a cluster's fields, tensor sizes depend only on the kind of device and its threads.
  cluster.physical_cores = plan.device == planner::DeviceKind::kCpu ? physical_cores : 0;
  ASSIGN_OR_RETURN(const planner::FrameworkProfile profile, planner::FindProfile("meshwright"));
  const planner::EstimateContext context{plan.model, cluster, plan.training, profile};
  int64_t most = std::numeric_limits<int64_t>::min();
  for (const std::vector<planner::ExpertRows>& rows : steps) {
    ASSIGN_OR_RETURN(const planner::MemoryEstimate routed,
                     planner::EstimateRoutedRankMemory(context, plan.layout, pipeline_rank, rows));
    most = std::max(most, routed.allocator_bytes());
  }
  const int64_t balanced =
      planner::EstimateRankMemory(context, plan.layout, pipeline_rank).allocator_bytes();
  return plan.estimated_bytes.at(static_cast<size_t>(pipeline_rank)) + most - balanced;
}

}  // namespace meshwright::trial
