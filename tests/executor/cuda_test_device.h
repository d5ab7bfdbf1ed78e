// CUDA devices for tests, from the module that was built beside the worker.
#pragma once

#include <cstdlib>
#include <memory>
#include <stdexcept>
#include <string>

#include "executor/worker/open_device.h"

namespace meshwright {

inline std::string CudaModuleFolder() {
  const char* folder = std::getenv("MESHWRIGHT_BIN_DIR");
  return folder == nullptr ? "." : folder;
}

// As CUDA counts them. Throws where the module can't be loaded: that is no lack of devices.
inline int32_t CudaDeviceCount() {
  const absl::StatusOr<int32_t> count = CountCudaDevices(CudaModuleFolder());
  if (!count.ok()) throw std::runtime_error(std::string(count.status().message()));
  return *count;
}

// Throws where it can't be had. The calling thread works on it from then on; with a hub, as one of
// several ranks.
inline std::unique_ptr<Device> OpenCudaTestDevice(int32_t index, ThreadHub* hub = nullptr) {
  absl::StatusOr<std::unique_ptr<Device>> device = OpenCudaDevice(CudaModuleFolder(), index, hub);
  if (!device.ok()) throw std::runtime_error(std::string(device.status().message()));
  return *std::move(device);
}

}  // namespace meshwright
