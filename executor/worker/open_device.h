// Opens the device that a plan asks for.
#pragma once

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "executor/trial/trial.h"
#include "executor/worker/device.h"
#include "executor/worker/thread_communicator.h"

namespace meshwright {

// The CUDA device `local_rank` comes from the module meshwright-cuda.so beside the executable.
// Unavailable, with the reason, where it can't be had.
absl::StatusOr<std::unique_ptr<Device>> OpenDevice(DeviceKind kind, int32_t local_rank);

// CUDA device `index` from the module in `folder`. Its groups are NCCL's, or those of `hub`, which
// outlives it, where all ranks of the run are threads of this process.
absl::StatusOr<std::unique_ptr<Device>> OpenCudaDevice(const std::string& folder, int32_t index,
                                                       ThreadHub* hub);

// What the module exports, under the name kOpenCudaDeviceSymbol: a new device, which the caller
// owns, or null with the reason in `error` (a buffer of `error_size` bytes).
using OpenCudaDeviceFunction = Device* (*)(int32_t local_rank, ThreadHub* hub, char* error,
                                           size_t error_size);
inline constexpr char kOpenCudaDeviceSymbol[] = "MeshwrightOpenCudaDevice";
inline constexpr char kCudaModuleName[] = "meshwright-cuda.so";

// Devices that CUDA lets this process have, by the module in `folder`; 0 without a driver.
// Unavailable, with the reason, where the module can't be loaded.
absl::StatusOr<int32_t> CountCudaDevices(const std::string& folder);

// What the module exports for it, under the name kCountCudaDevicesSymbol.
using CountCudaDevicesFunction = int32_t (*)();
inline constexpr char kCountCudaDevicesSymbol[] = "MeshwrightCountCudaDevices";

}  // namespace meshwright
