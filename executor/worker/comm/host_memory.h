// Memory of the host that one rank uses beside its device's, for what its layout offloads
// (planner/layout/offload.h). The device's account and limit do not count it; it counts itself.
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

  // `elements` of `type`, uninitialised, from memory that copies to and from `device` reach as it
  // is: pinned for a GPU. The tensor must not outlive this.
  at::Tensor Allocate(int64_t elements, at::ScalarType type, at::Device device);

  // Bytes, without rounding.
  int64_t held_bytes() const { return account_.held_bytes(); }
  int64_t peak_bytes() const { return account_.peak_bytes(); }
  void ResetPeak() { account_.ResetPeak(); }

 private:
  MemoryAccount account_;
};

}  // namespace meshwright::worker
