// CUDA devices for tests, from the module that was built beside the worker.
#pragma once

#include <dlfcn.h>

#include <array>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <stdexcept>
#include <string>

#include "executor/worker/open_device.h"

namespace meshwright {

// Devices that the driver shows, without loading CUDA into this process.
inline int32_t CudaDeviceCount() {
  int32_t count = 0;
  while (std::filesystem::exists("/dev/nvidia" + std::to_string(count))) ++count;
  return count;
}

// Throws where it can't be had. The calling thread works on it from then on.
inline std::unique_ptr<Device> OpenCudaTestDevice(int32_t index) {
  const char* folder = std::getenv("MESHWRIGHT_BIN_DIR");
  const std::string path = std::string(folder == nullptr ? "." : folder) + "/" + kCudaModuleName;
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
