#include "executor/trial/named_kernels.h"

#include "executor/trial/capabilities.h"

namespace meshwright {

Layout WithNamedKernels(const Layout& layout, const FrameworkProfile& profile, DeviceKind device) {
  Layout named = layout;
  const bool left_open = layout.attention == AttentionKernel::kDefault;
  if (left_open && device != DeviceKind::kCpu && profile.worker_allocations &&
      profile.attention != WorkerCapabilities().default_attention) {
    named.attention = profile.attention;
  }
  return named;
}

}  // namespace meshwright
