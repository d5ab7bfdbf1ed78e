#include "executor/worker/open_device.h"

#include <dlfcn.h>

#include <array>
#include <filesystem>
#include <string>

#include "absl/strings/str_cat.h"
#include "executor/worker/cpu_device.h"
#include "planner/spec/status_macros.h"

namespace meshwright {
namespace {

// A function of the module.
template <typename Function>
absl::StatusOr<Function> FromCudaModule(const char* symbol) {
  std::error_code ignored;
  const std::filesystem::path executable = std::filesystem::read_symlink("/proc/self/exe", ignored);
  const std::string path = executable.parent_path() / kCudaModuleName;
  // Never closed: Torch's CUDA libraries can't be unloaded.
  void* module = ::dlopen(path.c_str(), RTLD_NOW | RTLD_GLOBAL);
  if (module == nullptr) {
    return absl::UnavailableError(
        absl::StrCat("the CUDA part of the worker can't be loaded: ", ::dlerror()));
  }
  const auto function = reinterpret_cast<Function>(::dlsym(module, symbol));
  if (function == nullptr) return absl::UnavailableError(absl::StrCat(path, " has no ", symbol));
  return function;
}

absl::StatusOr<std::unique_ptr<Device>> OpenCudaDevice(int32_t local_rank) {
  ASSIGN_OR_RETURN(const auto open, FromCudaModule<OpenCudaDeviceFunction>(kOpenCudaDeviceSymbol));
  std::array<char, 512> error{};
  std::unique_ptr<Device> device(open(local_rank, error.data(), error.size()));
  if (device == nullptr) return absl::UnavailableError(error.data());
  return device;
}

}  // namespace

absl::StatusOr<std::unique_ptr<Device>> OpenDevice(DeviceKind kind, int32_t local_rank) {
  if (kind == DeviceKind::kCpu) return std::make_unique<CpuDevice>();
  return OpenCudaDevice(local_rank);
}

DeviceList ListCudaDevices() {
  DeviceList list;
  const auto list_devices = FromCudaModule<ListCudaDevicesFunction>(kListCudaDevicesSymbol);
  if (list_devices.ok()) {
    (*list_devices)(&list);
  } else {
    list.reason = std::string(list_devices.status().message());
  }
  return list;
}

}  // namespace meshwright
