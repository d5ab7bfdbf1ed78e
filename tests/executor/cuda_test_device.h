// OpenCudaTestDevice() opens CUDA devices for tests, with the module built beside the worker.
#pragma once

#include <cstdlib>
#include <memory>
#include <stdexcept>
#include <string>

#include "executor/trial/device_list.h"
#include "executor/worker/comm/open_device.h"

namespace meshwright::trial {

inline std::string BinFolder() {
  const char* folder = std::getenv("MESHWRIGHT_BIN_DIR");
  return folder == nullptr ? "." : folder;
}

// Returns the devices that the worker lists, without loading CUDA into this process. Throws if the
// worker fails.
inline const DeviceList& CudaDevices() {
  static const DeviceList& list = *new DeviceList([] {
    const auto answer = ListDevicesHere(BinFolder() + "/meshwright-worker");
    if (!answer.ok()) throw std::runtime_error(std::string(answer.status().message()));
    return *answer;
  }());
  return list;
}
inline int32_t CudaDeviceCount() { return CudaDevices().count(); }

// Opens the device for the calling thread. With a hub, the thread is one of several ranks. Throws
// if the device is not available.
inline std::unique_ptr<worker::Device> OpenCudaTestDevice(int32_t index,
                                                          worker::ThreadHub* hub = nullptr) {
  absl::StatusOr<std::unique_ptr<worker::Device>> device =
      worker::OpenCudaDevice(BinFolder(), index, hub);
  if (!device.ok()) throw std::runtime_error(std::string(device.status().message()));
  return *std::move(device);
}

}  // namespace meshwright::trial
