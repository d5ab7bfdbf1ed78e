// Opens the device that a plan asks for.
#pragma once

#include <memory>

#include "absl/status/statusor.h"
#include "executor/trial/trial.h"
#include "executor/worker/device.h"

namespace meshwright {

// The CUDA device `local_rank` comes from the module meshwright-cuda.so beside the executable.
// Unavailable, with the reason, where it can't be had.
absl::StatusOr<std::unique_ptr<Device>> OpenDevice(DeviceKind kind, int32_t local_rank);

// What the module exports, under the name kOpenCudaDeviceSymbol: a new device, which the caller
// owns, or null with the reason in `error` (a buffer of `error_size` bytes).
using OpenCudaDeviceFunction = Device* (*)(int32_t local_rank, char* error, size_t error_size);
inline constexpr char kOpenCudaDeviceSymbol[] = "MeshwrightOpenCudaDevice";
inline constexpr char kCudaModuleName[] = "meshwright-cuda.so";

}  // namespace meshwright
