// CudaDevice is one CUDA device of one rank: Torch's caching allocator, the CUDA kernels on the
// current stream, and NCCL. If several ranks share the device, they communicate as threads instead.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "executor/worker/comm/device.h"
#include "executor/worker/comm/thread_communicator.h"
#include "executor/worker/cuda/cuda_timeline.h"

namespace meshwright::worker {

class CudaDevice final : public Device {
 public:
  // Makes device `index` the calling thread's device. Throws c10::Error if there is no such device.
  // With a `hub`, all ranks of the run are threads of this process. Each rank then has a CudaDevice
  // and a stream of its own, but the allocator, with its limit and its peaks, belongs to the whole
  // device. REQUIRES: `hub` outlives this object.
  explicit CudaDevice(int32_t index, ThreadHub* hub = nullptr);

  at::Device torch_device() const override;
  DeviceDescription Describe() const override;
  const kernels::Kernels& kernels() const override { return *kernels_; }
  void Synchronize() override;
  std::unique_ptr<DeviceClock> MakeClock() override;
  // Limits the memory that the allocator reserves, which exceeds the memory that tensors hold:
  // blocks are rounded up to 512 bytes, and memory is reserved in pages of 2 MiB, or of 20 MiB for
  // blocks above 1 MiB. Before an allocation fails, the allocator releases cached blocks. The limit
  // does not cover the context, code and communicators.
  void SetMemoryLimit(int64_t bytes) override;
  void ResetPeakMemory() override;
  // Allocated bytes include the allocator's rounding, but not its cache.
  trial::MemoryPeaks PeakMemory() const override;
  std::unique_ptr<Communicator> Connect(const c10::intrusive_ptr<c10d::Store>& store,
                                        const GroupSpec& group, int32_t rank) override;
  std::optional<MemoryShortage> AsMemoryShortage(const std::exception& error) const override;

 private:
  // Returns the bytes of the device that are in use outside the allocator.
  int64_t OutsideBytes() const;

  const int32_t index_;
  ThreadHub* const hub_;
  const std::shared_ptr<CudaTimeline> timeline_ = std::make_shared<CudaTimeline>();
  std::shared_ptr<StreamOrder> order_;  // among the threads of a hub
  int64_t outside_before_bytes_ = 0;    // when the device was opened
  bool connected_ = false;              // whether a group is connected over NCCL
  std::unique_ptr<kernels::Kernels> kernels_;
};

}  // namespace meshwright::worker
