#include "executor/worker/open_device.h"

#include <dlfcn.h>

#include <array>
#include <filesystem>
#include <string>

#include "absl/strings/str_cat.h"
#include "executor/worker/cpu_device.h"

namespace meshwright {
namespace {

absl::StatusOr<std::unique_ptr<Device>> OpenCudaDevice(int32_t local_rank) {
  std::error_code ignored;
  const std::filesystem::path executable = std::filesystem::read_symlink("/proc/self/exe", ignored);
  const std::string path = executable.parent_path() / kCudaModuleName;
  // Never closed: Torch's CUDA libraries can't be unloaded.
  void* module = ::dlopen(path.c_str(), RTLD_NOW | RTLD_GLOBAL);
  if (module == nullptr) {
    return absl::UnavailableError(
        absl::StrCat("the CUDA part of the worker can't be loaded: ", ::dlerror()));
  }
  const auto open =
      reinterpret_cast<OpenCudaDeviceFunction>(::dlsym(module, kOpenCudaDeviceSymbol));
  if (open == nullptr) return absl::UnavailableError(absl::StrCat(path, " has no entry point"));
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

}  // namespace meshwright
