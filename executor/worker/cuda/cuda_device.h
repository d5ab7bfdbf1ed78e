// CudaDevice is one CUDA device of one rank: Torch's caching allocator, the CUDA kernels on the
// current stream, and NCCL, or threads where several ranks share the device.
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
  // Makes device `index` the calling thread's. Throws c10::Error where there is none. With a `hub`,
  // which must outlive this object, all ranks of the run are threads of this process, each with a
  // device object and a stream of its own; the allocator, its limit and its peaks are then the
  // device's, not the rank's.
  explicit CudaDevice(int32_t index, ThreadHub* hub = nullptr);

  at::Device torch_device() const override;
  DeviceDescription Describe() const override;
  const kernels::Kernels& kernels() const override { return *kernels_; }
  void Synchronize() override;
  std::unique_ptr<DeviceClock> MakeClock() override;
  // Limits what the allocator reserves, which exceeds what tensors hold: blocks are rounded up to
  // 512 bytes and reserved in pages of 2 MiB, of 20 MiB for those above 1 MiB. Before it fails, the
  // allocator releases cached blocks. The context, code and communicators are not covered.
  void SetMemoryLimit(int64_t bytes) override;
  void ResetPeakMemory() override;
  // Allocated bytes include the allocator's rounding, but not its cache.
  trial::MemoryPeaks PeakMemory() const override;
  std::unique_ptr<Communicator> Connect(const c10::intrusive_ptr<c10d::Store>& store,
                                        const GroupSpec& group, int32_t rank) override;
  std::optional<MemoryShortage> AsMemoryShortage(const std::exception& error) const override;

 private:
  // Bytes of the device in use outside the allocator.
  int64_t OutsideBytes() const;

  const int32_t index_;
  ThreadHub* const hub_;
  const std::shared_ptr<CudaTimeline> timeline_ = std::make_shared<CudaTimeline>();
  std::shared_ptr<StreamOrder> order_;  // among the threads of a hub
  int64_t outside_before_bytes_ = 0;    // when the device was opened
  bool connected_ = false;              // over NCCL
  std::unique_ptr<kernels::Kernels> kernels_;
};

}  // namespace meshwright::worker
