#include "executor/worker/comm/open_device.h"

#include <dlfcn.h>

#include <array>
#include <filesystem>
#include <string>

#include "absl/strings/str_cat.h"
#include "base/text/status_macros.h"
#include "executor/worker/comm/cpu_device.h"

namespace meshwright::worker {
namespace {

// Returns the folder of the worker's executable.
std::string OwnFolder() {
  std::error_code ignored;
  return std::filesystem::read_symlink("/proc/self/exe", ignored).parent_path();
}

// Never closed: Torch's CUDA libraries can't be unloaded.
template <typename Function>
absl::StatusOr<Function> FindInModule(const std::string& folder, const char* symbol) {
  const std::string path = std::filesystem::path(folder) / kCudaModuleName;
  void* module = ::dlopen(path.c_str(), RTLD_NOW | RTLD_GLOBAL);
  if (module == nullptr) {
    return absl::UnavailableError(
        absl::StrCat("the CUDA part of the worker can't be loaded: ", ::dlerror()));
  }
  const auto function = reinterpret_cast<Function>(::dlsym(module, symbol));
  if (function == nullptr) {
    return absl::UnavailableError(absl::StrCat(path, " has no entry point ", symbol));
  }
  return function;
}

}  // namespace

absl::StatusOr<std::unique_ptr<Device>> OpenDevice(planner::DeviceKind kind, int32_t local_rank,
                                                   const std::string& address) {
  if (kind == planner::DeviceKind::kCpu) return std::make_unique<CpuDevice>(nullptr, address);
  return OpenCudaDevice(OwnFolder(), local_rank, /*hub=*/nullptr);
}

absl::StatusOr<std::unique_ptr<Device>> OpenCudaDevice(const std::string& folder, int32_t index,
                                                       ThreadHub* hub) {
  ASSIGN_OR_RETURN(const auto open,
                   FindInModule<OpenCudaDeviceFunction>(folder, kOpenCudaDeviceSymbol));
  std::array<char, 512> error{};
  std::unique_ptr<Device> device(open(index, hub, error.data(), error.size()));
  if (device == nullptr) return absl::UnavailableError(error.data());
  return device;
}

trial::DeviceList ListCudaDevices() {
  trial::DeviceList list;
  const auto list_devices =
      FindInModule<ListCudaDevicesFunction>(OwnFolder(), kListCudaDevicesSymbol);
  if (list_devices.ok()) {
    (*list_devices)(&list);
  } else {
    list.reason = std::string(list_devices.status().message());
  }
  return list;
}

}  // namespace meshwright::worker
