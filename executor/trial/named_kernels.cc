#include "executor/trial/named_kernels.h"

#include "executor/trial/capabilities.h"

namespace meshwright::trial {

planner::Layout WithNamedKernels(const planner::Layout& layout,
                                 const planner::FrameworkProfile& profile,
                                 planner::DeviceKind device) {
  planner::Layout named = layout;
  const bool left_open = layout.attention == planner::AttentionKernel::kDefault;
  if (left_open && device != planner::DeviceKind::kCpu &&
      profile.engine == planner::Engine::kWorker &&
      profile.supports.attention != WorkerProfile().supports.attention) {
    named.attention = profile.supports.attention;
  }
  return named;
}

planner::Runner WorkerAsRunner(const planner::FrameworkProfile& profile,
                               planner::DeviceKind device) {
  return {.profile = WorkerProfile(),
          .attention = WithNamedKernels(planner::Layout(), profile, device).attention};
}

}  // namespace meshwright::trial
