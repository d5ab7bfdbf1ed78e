#include "executor/worker/comm/cpu_device.h"

#include <stdlib.h>

#include <utility>

#include "executor/host/host.h"
#include "executor/worker/comm/gloo_communicator.h"
#include "executor/worker/comm/host_kernels.h"

namespace meshwright::worker {

CpuDevice::CpuDevice(ThreadHub* hub, std::string address)
    : hub_(hub), address_(std::move(address)), kernels_(MakeHostKernels()), scope_(&account_) {
  InstallAccountingAllocator();
}

DeviceDescription CpuDevice::Describe() const {
  return {.name = host::ProcessorName(), .memory_bytes = host::MemoryBytes(), .compute_units = 1};
}

std::unique_ptr<Communicator> CpuDevice::Connect(const c10::intrusive_ptr<c10d::Store>& store,
                                                 const GroupSpec& group, int32_t rank) {
  return hub_ != nullptr ? hub_->Join(group, rank, HostOrder())
                         : ConnectGloo(store, group, rank, address_);
}

std::optional<MemoryShortage> CpuDevice::AsMemoryShortage(const std::exception& error) const {
  if (const auto* oom = dynamic_cast<const OutOfMemory*>(&error)) {
    return MemoryShortage{.requested_bytes = oom->requested_bytes,
                          .held_bytes = oom->held_bytes,
                          .limit_bytes = oom->limit_bytes};
  }
  if (dynamic_cast<const std::bad_alloc*>(&error) != nullptr) {
    return MemoryShortage{.held_bytes = account_.held_bytes()};
  }
  return std::nullopt;
}

void KeepMatmulsWithoutScratch() { ::setenv("ONEDNN_MAX_CPU_ISA", "AVX512_CORE", /*overwrite=*/0); }

}  // namespace meshwright::worker
