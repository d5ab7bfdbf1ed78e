// HostMemory allocates and counts the host memory for the tensors that a rank's layout offloads
// (planner/layout/offload.h). This memory is outside the device's account and limit.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

#include "executor/worker/comm/memory_account.h"

namespace meshwright::worker {

class HostMemory {
 public:
  HostMemory() = default;
  HostMemory(const HostMemory&) = delete;
  HostMemory& operator=(const HostMemory&) = delete;

  // Returns an uninitialised tensor of `elements` elements on the host. The memory is pinned if
  // `device` is a GPU, so that copies to and from the device access it directly. REQUIRES: this
  // object outlives the tensor.
  at::Tensor Allocate(int64_t elements, at::ScalarType type, at::Device device);

  // Both functions count the bytes that tensors requested, without rounding.
  int64_t held_bytes() const { return account_.held_bytes(); }
  int64_t peak_bytes() const { return account_.peak_bytes(); }
  void ResetPeak() { account_.ResetPeak(); }

 private:
  MemoryAccount account_;
};

}  // namespace meshwright::worker
