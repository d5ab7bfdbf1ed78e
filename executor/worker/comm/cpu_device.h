// CpuDevice is a CPU as one rank's device: an accounting allocator, vectorised kernels, and Gloo or
// threads for communication.
#pragma once

#include "executor/worker/comm/device.h"
#include "executor/worker/comm/memory_account.h"
#include "executor/worker/comm/thread_communicator.h"

namespace meshwright::worker {

// The creating thread becomes the rank's thread: its allocations are counted during this object's
// lifetime. REQUIRES: all of the rank's tensors are destroyed before it.
class CpuDevice final : public Device {
 public:
  // Groups use Gloo, bound to `address`, or `hub`, which must outlive them, where all ranks of the
  // run are threads of one process.
  explicit CpuDevice(ThreadHub* hub = nullptr, std::string address = "127.0.0.1");

  at::Device torch_device() const override { return at::kCPU; }
  // Describes the processor, with the memory that all ranks of the host share.
  DeviceDescription Describe() const override;
  const kernels::Kernels& kernels() const override { return *kernels_; }
  void Synchronize() override {}
  std::unique_ptr<DeviceClock> MakeClock() override { return std::make_unique<HostClock>(); }
  // Limits the bytes of the rank's tensors.
  void SetMemoryLimit(int64_t bytes) override { account_.SetLimit(bytes); }
  void ResetPeakMemory() override { account_.ResetPeak(); }
  trial::MemoryPeaks PeakMemory() const override { return {account_.peak_bytes(), std::nullopt}; }
  // Bytes that the rank holds now.
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
// allocator, so that a rank's allocations are those of its own operators on every processor. Call
// before the first product. A user's ONEDNN_MAX_CPU_ISA takes precedence.
void KeepMatmulsWithoutScratch();

}  // namespace meshwright::worker
