// Opens the device that a plan asks for.
#pragma once

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "executor/trial/device_list.h"
#include "executor/trial/trial.h"
#include "executor/worker/comm/device.h"
#include "executor/worker/comm/thread_communicator.h"

namespace meshwright::worker {

// The CUDA device `local_rank` comes from the module meshwright-cuda.so beside the executable.
// A CPU's groups connect from `address`, this host's as the other ranks reach it. Unavailable, with
// the reason, where it can't be had.
absl::StatusOr<std::unique_ptr<Device>> OpenDevice(planner::DeviceKind kind, int32_t local_rank,
                                                   const std::string& address);

// CUDA device `index` from the module in `folder`. Its groups are NCCL's, or those of `hub`, which
// outlives it, where all ranks of the run are threads of this process.
absl::StatusOr<std::unique_ptr<Device>> OpenCudaDevice(const std::string& folder, int32_t index,
                                                       ThreadHub* hub);

// The CUDA devices that this process is shown; none, with the reason, where the module can't be
// loaded.
trial::DeviceList ListCudaDevices();

// What the module exports, under the name kOpenCudaDeviceSymbol: a new device, which the caller
// owns, or null with the reason in `error` (a buffer of `error_size` bytes).
using OpenCudaDeviceFunction = Device* (*)(int32_t local_rank, ThreadHub* hub, char* error,
                                           size_t error_size);
inline constexpr char kOpenCudaDeviceSymbol[] = "MeshwrightOpenCudaDevice";
// The devices that CUDA tells of, or why there is none.
using ListCudaDevicesFunction = void (*)(trial::DeviceList* list);
inline constexpr char kListCudaDevicesSymbol[] = "MeshwrightListCudaDevices";
inline constexpr char kCudaModuleName[] = "meshwright-cuda.so";

}  // namespace meshwright::worker
