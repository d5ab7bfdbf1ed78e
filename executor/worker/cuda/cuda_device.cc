#include "executor/worker/cuda/cuda_device.h"

#include <ATen/Context.h>
#include <ATen/cuda/CUDAContextLight.h>
#include <c10/cuda/CUDACachingAllocator.h>
#include <c10/cuda/CUDAFunctions.h>
#include <c10/cuda/CUDAStream.h>
#include <stdlib.h>

#include <algorithm>
#include <atomic>
#include <mutex>

#include "executor/worker/cuda/cuda_stream_order.h"
#include "executor/worker/cuda/nccl_communicator.h"

namespace meshwright {
namespace {

namespace allocator = c10::cuda::CUDACachingAllocator;

void* CurrentStream() { return c10::cuda::getCurrentCUDAStream().stream(); }

// Bytes of the allocation that failed last; the allocator's exception carries them in its text
// only.
std::atomic<int64_t> failed_request_bytes = 0;

// Once in a process, however many of its threads are ranks.
void OpenCuda() {
  // Each group takes two streams; with fewer queues than streams one would wait for another that it
  // has nothing to do with. Only read when the device is opened.
  ::setenv("CUDA_DEVICE_MAX_CONNECTIONS", "32", /*overwrite=*/0);
  at::globalContext().lazyInitDevice(c10::DeviceType::CUDA);
  allocator::attachOutOfMemoryObserver([](int64_t, size_t requested, size_t, size_t) {
    failed_request_bytes = static_cast<int64_t>(requested);
  });
}

constexpr auto kAll = static_cast<size_t>(c10::CachingAllocator::StatType::AGGREGATE);

}  // namespace

CudaDevice::CudaDevice(int32_t index, ThreadHub* hub)
    : index_(index), hub_(hub), kernels_(kernels::MakeCudaKernels(CurrentStream)) {
  static std::once_flag opened;
  std::call_once(opened, OpenCuda);
  c10::cuda::set_device(static_cast<c10::DeviceIndex>(index));
  if (hub != nullptr) {
    order_ = std::make_shared<CudaStreamOrder>(static_cast<c10::DeviceIndex>(index), timeline_);
  }
  limit_bytes_ = static_cast<int64_t>(
      allocator::get()->getMemoryInfo(static_cast<c10::DeviceIndex>(index)).second);
}

at::Device CudaDevice::torch_device() const {
  return {at::kCUDA, static_cast<c10::DeviceIndex>(index_)};
}

DeviceDescription CudaDevice::Describe() const {
  const cudaDeviceProp* properties =
      at::cuda::getDeviceProperties(static_cast<c10::DeviceIndex>(index_));
  return {.name = properties->name,
          .memory_bytes = static_cast<int64_t>(properties->totalGlobalMem),
          .compute_units = properties->multiProcessorCount};
}

void CudaDevice::Synchronize() { c10::cuda::device_synchronize(); }

std::unique_ptr<DeviceClock> CudaDevice::MakeClock() {
  return std::make_unique<CudaClock>(timeline_);
}

void CudaDevice::SetMemoryLimit(int64_t bytes) {
  const auto device = static_cast<c10::DeviceIndex>(index_);
  const auto total = static_cast<double>(allocator::get()->getMemoryInfo(device).second);
  limit_bytes_ = bytes;
  allocator::setMemoryFraction(std::min(1.0, static_cast<double>(bytes) / total), device);
}

void CudaDevice::ResetPeakMemory() {
  allocator::emptyCache();
  allocator::resetPeakStats(static_cast<c10::DeviceIndex>(index_));
}

int64_t CudaDevice::PeakMemoryBytes() const {
  return allocator::getDeviceStats(static_cast<c10::DeviceIndex>(index_))
      .allocated_bytes[kAll]
      .peak;
}

std::unique_ptr<Communicator> CudaDevice::Connect(const c10::intrusive_ptr<c10d::Store>& store,
                                                  const GroupSpec& group, int32_t rank) {
  if (hub_ != nullptr) return hub_->Join(group, rank, order_);
  return ConnectNccl(store, group, rank, torch_device(), timeline_);
}

std::optional<Device::MemoryShortage> CudaDevice::AsMemoryShortage(
    const std::exception& error) const {
  if (dynamic_cast<const c10::OutOfMemoryError*>(&error) == nullptr) return std::nullopt;
  const auto stats = allocator::getDeviceStats(static_cast<c10::DeviceIndex>(index_));
  return MemoryShortage{.requested_bytes = failed_request_bytes,
                        .held_bytes = stats.allocated_bytes[kAll].current,
                        .limit_bytes = limit_bytes_};
}

}  // namespace meshwright
