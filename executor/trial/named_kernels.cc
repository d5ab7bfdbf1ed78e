#include "executor/trial/named_kernels.h"

#include "executor/trial/capabilities.h"

namespace meshwright::trial {

planner::Layout WithNamedKernels(const planner::Layout& layout, const planner::FrameworkProfile& profile, DeviceKind device) {
  planner::Layout named = layout;
  const bool left_open = layout.attention == planner::AttentionKernel::kDefault;
  if (left_open && device != DeviceKind::kCpu && profile.engine == planner::Engine::kWorker &&
      profile.supports.attention != WorkerCapabilities().default_attention) {
    named.attention = profile.supports.attention;
  }
  return named;
}

}  // namespace meshwright::trial
