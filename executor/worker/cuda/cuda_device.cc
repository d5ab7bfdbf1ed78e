#include "executor/worker/cuda/cuda_device.h"

#include <ATen/Context.h>
#include <ATen/cuda/CUDAContextLight.h>
#include <c10/core/AllocatorConfig.h>
#include <c10/cuda/CUDACachingAllocator.h>
#include <c10/cuda/CUDAFunctions.h>
#include <c10/cuda/CUDAStream.h>
#include <stdlib.h>

#include <algorithm>
#include <mutex>
#include <optional>
#include <string>

#include "absl/strings/str_cat.h"
#include "executor/worker/cuda/cuda_stream_order.h"
#include "executor/worker/cuda/nccl_communicator.h"

namespace meshwright::worker {
namespace {

namespace allocator = c10::cuda::CUDACachingAllocator;

void* CurrentStream() { return c10::cuda::getCurrentCUDAStream().stream(); }

constexpr auto kAll = static_cast<size_t>(c10::CachingAllocator::StatType::AGGREGATE);

// This thread's last refusal by the allocator. Captured at once: the error carries its bytes only
// as text, and held memory is released while the error propagates.
thread_local std::optional<MemoryShortage> refused;

void NoteRefusals() {
  // Called without the allocator's lock. The third argument is the limit where there is one.
  allocator::attachOutOfMemoryObserver(
      [](int64_t device, size_t requested, size_t allowed, size_t) {
        const auto stats = allocator::getDeviceStats(static_cast<c10::DeviceIndex>(device));
        refused = MemoryShortage{.requested_bytes = static_cast<int64_t>(requested),
                                 .held_bytes = stats.allocated_bytes[kAll].current,
                                 .limit_bytes = static_cast<int64_t>(allowed)};
      });
}

// Expandable segments leave no gaps that only a block of another size would fit, and are freed
// without waiting for the whole device, on which a posted receive may be pending. Other settings of
// the user are repeated, since each change resets what it does not name.
void UseExpandableSegments() {
  std::string settings;
  for (const char* name : {"PYTORCH_ALLOC_CONF", "PYTORCH_CUDA_ALLOC_CONF"}) {
    if (const char* value = ::getenv(name); value != nullptr && settings.empty()) settings = value;
  }
  if (settings.find("expandable_segments") != std::string::npos) return;
  if (!settings.empty()) settings += ",";
  c10::CachingAllocator::setAllocatorSettings(settings + "expandable_segments:True");
}

DeviceMemory MemoryOf(int32_t index) {
  const auto [free_bytes, total_bytes] =
      allocator::get()->getMemoryInfo(static_cast<c10::DeviceIndex>(index));
  return {.used_bytes = static_cast<int64_t>(total_bytes - free_bytes),
          .total_bytes = static_cast<int64_t>(total_bytes)};
}

// Runs once per process, however many of its threads are ranks.
void OpenCuda() {
  // Each group uses two streams; with fewer hardware queues than streams, unrelated streams would
  // wait for each other. Only read when the device is opened.
  ::setenv("CUDA_DEVICE_MAX_CONNECTIONS", "32", /*overwrite=*/0);
  UseExpandableSegments();
  at::globalContext().lazyInitDevice(c10::DeviceType::CUDA);
  // fp32 means IEEE fp32, whatever the environment says of TF32.
  at::globalContext().setAllowTF32CuBLAS(false);
  NoteRefusals();
}

// Returns the runtime's version, such as "13.0"; empty if it can't be asked.
std::string CudaVersion() {
  int version = 0;
  if (cudaRuntimeGetVersion(&version) != cudaSuccess) return "";
  return absl::StrCat(version / 1000, ".", version % 1000 / 10);
}

}  // namespace

CudaDevice::CudaDevice(int32_t index, ThreadHub* hub)
    : index_(index), hub_(hub), kernels_(kernels::MakeCudaKernels(CurrentStream)) {
  static std::once_flag opened;
  std::call_once(opened, OpenCuda);
  c10::cuda::set_device(static_cast<c10::DeviceIndex>(index));
  if (hub != nullptr) {
    order_ = std::make_shared<CudaStreamOrder>(static_cast<c10::DeviceIndex>(index), timeline_);
  }
  outside_before_bytes_ = OutsideBytes();
}

at::Device CudaDevice::torch_device() const {
  return {at::kCUDA, static_cast<c10::DeviceIndex>(index_)};
}

DeviceDescription CudaDevice::Describe() const {
  const cudaDeviceProp* properties =
      at::cuda::getDeviceProperties(static_cast<c10::DeviceIndex>(index_));
  return {.name = properties->name,
          .memory_bytes = static_cast<int64_t>(properties->totalGlobalMem),
          .compute_units = properties->multiProcessorCount,
          .cuda_version = CudaVersion(),
          .nccl_version = NcclVersion()};
}

void CudaDevice::Synchronize() { c10::cuda::device_synchronize(); }

std::unique_ptr<DeviceClock> CudaDevice::MakeClock() {
  return std::make_unique<CudaClock>(timeline_);
}

void CudaDevice::SetMemoryLimit(int64_t bytes) {
  const auto total = static_cast<double>(MemoryOf(index_).total_bytes);
  allocator::setMemoryFraction(std::min(1.0, static_cast<double>(bytes) / total),
                               static_cast<c10::DeviceIndex>(index_));
}

void CudaDevice::ResetPeakMemory() {
  const auto device = static_cast<c10::DeviceIndex>(index_);
  allocator::emptyCache();
  allocator::resetPeakStats(device);
  allocator::resetAccumulatedStats(device);
}

int64_t CudaDevice::OutsideBytes() const {
  const auto stats = allocator::getDeviceStats(static_cast<c10::DeviceIndex>(index_));
  return MemoryOf(index_).used_bytes - stats.reserved_bytes[kAll].current;
}

trial::MemoryPeaks CudaDevice::PeakMemory() const {
  const auto stats = allocator::getDeviceStats(static_cast<c10::DeviceIndex>(index_));
  return {.allocated_bytes = stats.allocated_bytes[kAll].peak,
          .device = trial::DeviceMemoryUse{
              .peak_reserved_bytes = stats.reserved_bytes[kAll].peak,
              .allocator_retries = stats.num_alloc_retries,
              .communicator_bytes =
                  connected_ ? std::max<int64_t>(0, OutsideBytes() - outside_before_bytes_) : 0}};
}

std::unique_ptr<Communicator> CudaDevice::Connect(const c10::intrusive_ptr<c10d::Store>& store,
                                                  const GroupSpec& group, int32_t rank) {
  if (hub_ != nullptr) return hub_->Join(group, rank, order_);
  connected_ = true;
  return ConnectNccl(store, group, rank, torch_device(), timeline_);
}

std::optional<MemoryShortage> CudaDevice::AsMemoryShortage(const std::exception& error) const {
  const auto* torch_error = dynamic_cast<const c10::Error*>(&error);
  const char* text = torch_error != nullptr ? torch_error->what_without_backtrace() : error.what();
  if (WhatWasRefused(text) == RefusedMemory::kNone) return std::nullopt;
  DeviceMemory device;
  try {
    device = MemoryOf(index_);
  } catch (const c10::Error&) {
    // A driver without memory may not answer either.
  }
  return ShortageOf(text, refused, device);
}

}  // namespace meshwright::worker
