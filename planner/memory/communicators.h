// The communicators that a rank of Meshwright's own worker opens, and their buffers on a device.
#pragma once

#include <cstdint>

#include "planner/layout/layout.h"
#include "planner/spec/cluster_spec.h"

namespace meshwright::planner {

// By what they carry (planner/schedule/open_groups.h).
struct OpenCommunicators {
  int64_t collective = 0;
  int64_t point_to_point = 0;

  friend bool operator==(const OpenCommunicators&, const OpenCommunicators&) = default;
};

OpenCommunicators CommunicatorsOf(const Layout& layout, bool tied_embeddings,
                                  int32_t pipeline_rank);

// What they hold outside the allocator, as the cluster says that each kind does. NCCL allocates
// buffers for each channel to each neighbour, whatever the number of ranks.
int64_t BufferBytes(const HardwareProfile& device, const OpenCommunicators& open);

}  // namespace meshwright::planner
