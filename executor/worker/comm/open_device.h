// OpenDevice() opens the device that a plan asks for.
#pragma once

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "executor/trial/device_list.h"
#include "executor/trial/trial.h"
#include "executor/worker/comm/device.h"
#include "executor/worker/comm/thread_communicator.h"

namespace meshwright::worker {

// Opens the CPU, or CUDA device `local_rank` through the module meshwright-cuda.so in the
// executable's folder. Groups of CPU ranks use `address`, at which the other ranks reach this host.
// Returns Unavailable, with the reason, if the device can't be opened.
absl::StatusOr<std::unique_ptr<Device>> OpenDevice(planner::DeviceKind kind, int32_t local_rank,
                                                   const std::string& address);

// Opens CUDA device `index` through the module in `folder`. If `hub` is null, groups use NCCL.
// Otherwise all ranks of the run are threads of this process and groups connect through `hub`,
// which must outlive the device.
absl::StatusOr<std::unique_ptr<Device>> OpenCudaDevice(const std::string& folder, int32_t index,
                                                       ThreadHub* hub);

// Returns the CUDA devices visible to this process. If the module can't be loaded, the list has no
// devices and says why.
trial::DeviceList ListCudaDevices();

// The module's function kOpenCudaDeviceSymbol returns a new device, which the caller owns. If that
// fails, it returns null and writes the reason to `error`, a buffer of `error_size` bytes.
using OpenCudaDeviceFunction = Device* (*)(int32_t local_rank, ThreadHub* hub, char* error,
                                           size_t error_size);
inline constexpr char kOpenCudaDeviceSymbol[] = "MeshwrightOpenCudaDevice";
// The module's function kListCudaDevicesSymbol fills `list` with the devices that CUDA reports or,
// if there are none, with the reason.
using ListCudaDevicesFunction = void (*)(trial::DeviceList* list);
inline constexpr char kListCudaDevicesSymbol[] = "MeshwrightListCudaDevices";
inline constexpr char kCudaModuleName[] = "meshwright-cuda.so";

}  // namespace meshwright::worker
