// A CPU as the device of one rank: the accounting allocator, vectorised kernels, gloo or
// threads.
#pragma once

#include "executor/worker/comm/device.h"
#include "executor/worker/comm/memory_account.h"
#include "executor/worker/comm/thread_communicator.h"

namespace meshwright::worker {

// The thread that creates it becomes the rank's thread: what it allocates is counted until the
// device goes. All of the rank's tensors must be gone by then.
class CpuDevice final : public Device {
 public:
  // Its groups are gloo's, bound to `address`, or those of `hub`, which outlives them, where all
  // ranks of the run are threads of one process.
  explicit CpuDevice(ThreadHub* hub = nullptr, std::string address = "127.0.0.1");

  at::Device torch_device() const override { return at::kCPU; }
  // The processor, with the memory that all ranks of the host share.
  DeviceDescription Describe() const override;
  const kernels::Kernels& kernels() const override { return *kernels_; }
  void Synchronize() override {}
  std::unique_ptr<DeviceClock> MakeClock() override { return std::make_unique<HostClock>(); }
  // Bounds what the rank's tensors hold.
  void SetMemoryLimit(int64_t bytes) override { account_.SetLimit(bytes); }
  void ResetPeakMemory() override { account_.ResetPeak(); }
  trial::MemoryPeaks PeakMemory() const override { return {account_.peak_bytes(), std::nullopt}; }
  // What the rank holds now.
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

// Keeps oneDNN to instruction sets whose bf16 products take no packing buffers from Torch's
// allocator: what a rank allocates is then what its own operators ask for, on every processor. Call
// it before the first product. A user's own ONEDNN_MAX_CPU_ISA stands.
void KeepMatmulsWithoutScratch();

}  // namespace meshwright::worker
