#include "planner/profile/attention_default.h"

namespace meshwright::planner {

AttentionKernel DefaultAttention(const FrameworkProfile& profile, const ClusterSpec& cluster,
                                 const ModelSpec& model, Precision precision) {
  const bool on_cores = cluster.physical_cores > 0;
  if (!profile.worker_allocations || on_cores || precision != Precision::kBf16) {
    return profile.attention;
  }
  for (const FastestAttention& fastest : cluster.device.fastest_attention) {
    if (fastest.head_dim == model.head_dim) return fastest.kernel;
  }
  return profile.attention;
}

}  // namespace meshwright::planner
