// CUDA devices for tests, from the module that was built beside the worker.
#pragma once

#include <dlfcn.h>

#include <array>
#include <cstdlib>
#include <memory>
#include <stdexcept>
#include <string>

#include "executor/trial/device_list.h"
#include "executor/worker/open_device.h"

namespace meshwright {

inline std::string BinFolder() {
  const char* folder = std::getenv("MESHWRIGHT_BIN_DIR");
  return folder == nullptr ? "." : folder;
}

// What the worker says, without loading CUDA into this process. A worker that can't say is an
// error, not a machine without devices.
inline const DeviceList& CudaDevices() {
  static const DeviceList& list = *new DeviceList([] {
    const auto answer = ListDevicesHere(BinFolder() + "/meshwright-worker");
    if (!answer.ok()) throw std::runtime_error(std::string(answer.status().message()));
    return *answer;
  }());
  return list;
}
inline int32_t CudaDeviceCount() { return CudaDevices().count(); }

// Throws where it can't be had. The calling thread works on it from then on.
inline std::unique_ptr<Device> OpenCudaTestDevice(int32_t index) {
  const std::string path = BinFolder() + "/" + kCudaModuleName;
  void* module = ::dlopen(path.c_str(), RTLD_NOW | RTLD_GLOBAL);
  if (module == nullptr) throw std::runtime_error(::dlerror());
  const auto open =
      reinterpret_cast<OpenCudaDeviceFunction>(::dlsym(module, kOpenCudaDeviceSymbol));
  if (open == nullptr) throw std::runtime_error(path + " has no entry point");
  std::array<char, 512> error{};
  std::unique_ptr<Device> device(open(index, error.data(), error.size()));
  if (device == nullptr) throw std::runtime_error(error.data());
  return device;
}

}  // namespace meshwright
