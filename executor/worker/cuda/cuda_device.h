// One CUDA device as the device of one rank: Torch's caching allocator, the CUDA kernels on the
// current stream, NCCL, or threads where several ranks share the device.
#pragma once

#include <memory>
#include <string>

#include "executor/worker/cuda/cuda_timeline.h"
#include "executor/worker/device.h"
#include "executor/worker/thread_communicator.h"

namespace meshwright {

class CudaDevice final : public Device {
 public:
  // Makes device `index` the calling thread's. Throws c10::Error where there is none. With a `hub`,
  // which outlives it, all ranks of the run are threads of this process, each with a device object
  // and a stream of its own; the allocator, its limit and what it measures are then the device's,
  // not the rank's.
  explicit CudaDevice(int32_t index, ThreadHub* hub = nullptr);

  at::Device torch_device() const override;
  DeviceDescription Describe() const override;
  const kernels::Kernels& kernels() const override { return *kernels_; }
  void Synchronize() override;
  std::unique_ptr<DeviceClock> MakeClock() override;
  // A share of the device's memory, enforced on what the allocator reserves.
  void SetMemoryLimit(int64_t bytes) override;
  void ResetPeakMemory() override;
  // What tensors held, with the allocator's rounding, without its cache.
  int64_t PeakMemoryBytes() const override;
  std::unique_ptr<Communicator> Connect(const c10::intrusive_ptr<c10d::Store>& store,
                                        const GroupSpec& group, int32_t rank) override;
  std::optional<MemoryShortage> AsMemoryShortage(const std::exception& error) const override;

 private:
  const int32_t index_;
  ThreadHub* const hub_;
  const std::shared_ptr<CudaTimeline> timeline_ = std::make_shared<CudaTimeline>();
  std::shared_ptr<StreamOrder> order_;  // among the threads of a hub
  int64_t limit_bytes_ = 0;
  std::unique_ptr<kernels::Kernels> kernels_;
};

}  // namespace meshwright
