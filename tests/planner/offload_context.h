// OffloadContext() returns a context whose cluster describes its hosts fully and whose framework
// can offload everything.
#pragma once

#include "tests/planner/plain_context.h"

namespace meshwright::planner {

// A node of eight devices has host links of 50 GB/s per device and 2 TiB of host memory at 800
// GB/s, all with an efficiency of 1. A device's share of the memory's bandwidth, 100 GB/s, is
// faster than its link, and optimizer updates on the host run at this rate.
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
