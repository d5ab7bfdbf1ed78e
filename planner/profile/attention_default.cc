#include "planner/profile/attention_default.h"

#include "planner/profile/model_part.h"

namespace meshwright::planner {

AttentionKernel DefaultAttention(const FrameworkProfile& profile, const ClusterSpec& cluster,
                                 const ModelSpec& model, Precision precision) {
  const bool on_cores = cluster.device_kind() == DeviceKind::kCpu;
  if (!profile.supports.picks_fastest_attention || on_cores ||
      BytesOf(NumberFormatsOf(precision).activations) != BytesOf(NumberFormat::kBf16)) {
    return profile.supports.attention;
  }
  const EnumSet<ModelPart> of_flash2 = profile.supports.kernels.cuda_flash2_parts;
  if (!PartsOf(model).And(of_flash2).empty()) return profile.supports.attention;
  const int64_t head_dim = model.groups.front().attention.head_dim;
  for (const LayerGroup& group : model.groups) {
    if (group.attention.head_dim != head_dim) return profile.supports.attention;
  }
  for (const FastestAttention& fastest : cluster.device.fastest_attention) {
    if (fastest.head_dim == head_dim) return fastest.kernel;
  }
  return profile.supports.attention;
}

}  // namespace meshwright::planner
