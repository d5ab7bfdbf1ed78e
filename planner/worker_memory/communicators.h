// Counts the communicators that a rank of Meshwright's own worker opens, and the device bytes of
// their buffers.
#pragma once

#include <cstdint>

#include "planner/layout/layout.h"
#include "planner/schedule/open_groups.h"
#include "planner/spec/cluster_spec.h"

namespace meshwright::planner {

// Numbers of communicators by what they carry (planner/schedule/open_groups.h).
struct OpenCommunicators {
  int64_t collective = 0;
  int64_t point_to_point = 0;

  friend bool operator==(const OpenCommunicators&, const OpenCommunicators&) = default;
};

OpenCommunicators CommunicatorsOf(const Layout& layout, const GroupNeeds& needs,
                                  int32_t pipeline_rank);

// Returns the bytes that the communicators hold outside the allocator. The cluster gives the bytes
// of one communicator of each kind. The number of ranks does not matter, because NCCL allocates
// buffers for each channel to each neighbour.
int64_t BufferBytes(const HardwareProfile& device, const OpenCommunicators& open);

}  // namespace meshwright::planner
