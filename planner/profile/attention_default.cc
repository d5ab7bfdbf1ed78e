#include "planner/profile/attention_default.h"

#include <optional>

#include "planner/profile/model_part.h"

namespace meshwright::planner {
namespace {

// Returns the size of all heads; nullopt if layers differ.
std::optional<int64_t> HeadDimOf(const ModelSpec& model) {
  const int64_t head_dim = model.groups.front().attention.head_dim;
  for (const LayerGroup& group : model.groups) {
    if (group.attention.head_dim != head_dim) return std::nullopt;
  }
  return head_dim;
}

std::optional<AttentionKernel> FastestOf(const FrameworkProfile& profile,
                                         const ClusterSpec& cluster, const ModelSpec& model,
                                         Precision precision) {
  if (cluster.device_kind() == DeviceKind::kCpu ||
      BytesOf(NumberFormatsOf(precision).activations) != BytesOf(NumberFormat::kBf16)) {
    return std::nullopt;
  }
  const EnumSet<ModelPart> of_flash2 = profile.supports.kernels.cuda_flash2_parts;
  if (!PartsOf(model).And(of_flash2).empty()) return std::nullopt;
  const std::optional<int64_t> head_dim = HeadDimOf(model);
  for (const FastestAttention& fastest : cluster.device.fastest_attention) {
    if (fastest.head_dim == head_dim) return fastest.kernel;
  }
  return std::nullopt;
}

}  // namespace

AttentionKernel SdpaAttention(const FrameworkProfile& profile, const ClusterSpec& cluster,
                              const ModelSpec& model, Precision precision) {
  return FastestOf(profile, cluster, model, precision).value_or(AttentionKernel::kFlash2);
}

AttentionKernel DefaultAttention(const FrameworkProfile& profile, const ClusterSpec& cluster,
                                 const ModelSpec& model, Precision precision) {
  AttentionKernel kernel = profile.supports.attention;
  if (profile.supports.picks_fastest_attention) {
    kernel = FastestOf(profile, cluster, model, precision).value_or(kernel);
  }
  return cluster.device.AttentionRatio(kernel) > 0.0 ? kernel : AttentionKernel::kFlash2;
}

}  // namespace meshwright::planner
