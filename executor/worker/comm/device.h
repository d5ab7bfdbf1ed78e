// Device is the device on which a rank computes. It provides the rank's tensors, fused operators,
// memory accounting and communicators.
//
// The implementations are CpuDevice and CudaDevice. CudaDevice is in a separate module that is
// loaded only for plans that need it, so that CPU trials don't load CUDA.
#pragma once

#include <c10/core/Device.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <torch/csrc/distributed/c10d/Store.hpp>
#include <vector>

#include "executor/trial/memory_peaks.h"
#include "executor/worker/comm/communicator.h"
#include "executor/worker/comm/device_clock.h"
#include "executor/worker/comm/memory_shortage.h"
#include "kernels/kernels.h"
#include "planner/schedule/open_groups.h"

namespace meshwright::worker {

using planner::Traffic;

// The ranks of one communicator. `name` is unique among the groups of a run.
struct GroupSpec {
  std::string name;
  std::vector<int32_t> ranks;
  std::chrono::milliseconds timeout{0};
  Traffic traffic = Traffic::kCollectives;
};

// A device, as described by its driver or the operating system.
struct DeviceDescription {
  std::string name;
  int64_t memory_bytes = 0;
  int32_t compute_units = 1;  // SMs of a GPU; 1 for a CPU
  std::string cuda_version = {};
  std::string nccl_version = {};
};

class Device {
 public:
  virtual ~Device() = default;

  virtual at::Device torch_device() const = 0;
  virtual DeviceDescription Describe() const = 0;
  virtual const kernels::Kernels& kernels() const = 0;

  // Waits for everything issued so far.
  virtual void Synchronize() = 0;

  // Returns a clock that tells when this device reaches points in the calling thread's work.
  virtual std::unique_ptr<DeviceClock> MakeClock() = 0;

  // Limits and measures the allocations of the calling thread's rank. Each implementation says
  // which memory its limit covers.
  virtual void SetMemoryLimit(int64_t bytes) = 0;
  virtual void ResetPeakMemory() = 0;
  // Returns the peaks since the last ResetPeakMemory().
  virtual trial::MemoryPeaks PeakMemory() const = 0;

  // Returns the communicator of global rank `rank` in `group`. All ranks of the group must call
  // Connect(). REQUIRES: `rank` is a member of `group`.
  virtual std::unique_ptr<Communicator> Connect(const c10::intrusive_ptr<c10d::Store>& store,
                                                const GroupSpec& group, int32_t rank) = 0;

  // Returns the shortage if `error` means that the device ran out of memory, and otherwise nullopt.
  // Must be called on the rank's thread.
  virtual std::optional<MemoryShortage> AsMemoryShortage(const std::exception& error) const = 0;
};

}  // namespace meshwright::worker
