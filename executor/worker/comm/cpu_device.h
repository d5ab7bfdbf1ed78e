// CpuDevice is a CPU as one rank's device: an accounting allocator, vectorised kernels, and Gloo or
// threads for communication.
#pragma once

#include "executor/worker/comm/device.h"
#include "executor/worker/comm/memory_account.h"
#include "executor/worker/comm/thread_communicator.h"

namespace meshwright::worker {

// The thread that creates a CpuDevice becomes the rank's thread: the allocations of this thread are
// counted as long as the device exists. REQUIRES: all of the rank's tensors are destroyed before
// the device.
class CpuDevice final : public Device {
 public:
  // With a `hub`, all ranks of the run are threads of this process, and their groups connect
  // through the hub. Without a hub, groups use Gloo, bound to `address`. REQUIRES: `hub` outlives
  // this object.
  explicit CpuDevice(ThreadHub* hub = nullptr, std::string address = "127.0.0.1");

  at::Device torch_device() const override { return at::kCPU; }
  // Describes the processor. Its memory is the host's memory, which all ranks on the host share.
  DeviceDescription Describe() const override;
  const kernels::Kernels& kernels() const override { return *kernels_; }
  void Synchronize() override {}
  std::unique_ptr<DeviceClock> MakeClock() override { return std::make_unique<HostClock>(); }
  // Limits the bytes of the rank's tensors.
  void SetMemoryLimit(int64_t bytes) override { account_.SetLimit(bytes); }
  void ResetPeakMemory() override { account_.ResetPeak(); }
  trial::MemoryPeaks PeakMemory() const override { return {account_.peak_bytes(), std::nullopt}; }
  // Returns the bytes that the rank holds now.
  int64_t HeldBytes() const { return account_.held_bytes(); }
  std::unique_ptr<Communicator> Connect(const c10::intrusive_ptr<c10d::Store>& store,
                                        const GroupSpec& group, int32_t rank) override;
  std::optional<MemoryShortage> AsMemoryShortage(const std::exception& error) const override;

 private:
  ThreadHub* const hub_;
  const std::string address_;
  std::unique_ptr<kernels::Kernels> kernels_;
  MemoryAccount account_;
  ScopedMemoryAccount scope_;
};

// Restricts oneDNN to instruction sets whose bf16 products need no packing buffers from Torch's
// allocator, so that a rank's allocations are the same on every processor. Must be called before
// the first product. The user's ONEDNN_MAX_CPU_ISA takes precedence.
void KeepMatmulsWithoutScratch();

}  // namespace meshwright::worker
