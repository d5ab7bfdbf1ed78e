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

// Opens CUDA device `local_rank` through the module meshwright-cuda.so beside the executable, or
// the CPU, whose groups connect from `address`, where the other ranks reach this host. Unavailable,
// with the reason, where that fails.
absl::StatusOr<std::unique_ptr<Device>> OpenDevice(planner::DeviceKind kind, int32_t local_rank,
                                                   const std::string& address);

// Opens CUDA device `index` through the module in `folder`. Groups use NCCL, or `hub`, which must
// outlive the device, where all ranks of the run are threads of this process.
absl::StatusOr<std::unique_ptr<Device>> OpenCudaDevice(const std::string& folder, int32_t index,
                                                       ThreadHub* hub);

// Returns the CUDA devices visible to this process; none, with the reason, where the module can't
// be loaded.
trial::DeviceList ListCudaDevices();

// The module's entry point, exported as kOpenCudaDeviceSymbol: returns a new device, which the
// caller owns, or null with the reason in `error` (a buffer of `error_size` bytes).
using OpenCudaDeviceFunction = Device* (*)(int32_t local_rank, ThreadHub* hub, char* error,
                                           size_t error_size);
inline constexpr char kOpenCudaDeviceSymbol[] = "MeshwrightOpenCudaDevice";
// Returns the devices that CUDA reports, or why there is none.
using ListCudaDevicesFunction = void (*)(trial::DeviceList* list);
inline constexpr char kListCudaDevicesSymbol[] = "MeshwrightListCudaDevices";
inline constexpr char kCudaModuleName[] = "meshwright-cuda.so";

}  // namespace meshwright::worker
