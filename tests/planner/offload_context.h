// A context whose cluster describes its hosts fully and whose framework offloads everything.
#pragma once

#include "tests/planner/plain_context.h"

namespace meshwright::planner {

// Links of 50 GB/s, and 2 TB of memory at 800 GB/s per node of eight devices, all at full speed: no
// device's share of the memory is slower than its link, and updates run at 100 GB/s per device.
inline TestContext OffloadContext(const char* model, int64_t seq_len, int64_t global_batch) {
  TestContext test = PlainContext(model, seq_len, global_batch);
  test.cluster.host = {.link_bytes_per_s = 50e9,
                       .link_efficiency = 1.0,
                       .memory_bytes = int64_t{2} << 40,
                       .memory_bytes_per_s = 800e9,
                       .update_efficiency = 1.0,
                       .source = ""};
  Supports& has = test.profile.supports;
  has.has_activation_offload = true;
  has.activation_offload_with_pipeline = true;
  has.activation_offload_with_recompute = true;
  has.has_optimizer_offload = true;
  has.has_parameter_offload = true;
  has.has_gradient_offload = true;
  return test;
}

}  // namespace meshwright::planner
