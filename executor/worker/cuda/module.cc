// The entry points that the worker looks up in meshwright-cuda.so.
#include <c10/util/Exception.h>
#include <cuda_runtime_api.h>

#include <cstdio>
#include <exception>
#include <string>

#include "executor/worker/comm/open_device.h"
#include "executor/worker/cuda/cuda_device.h"

extern "C" __attribute__((visibility("default"))) meshwright::worker::Device*
MeshwrightOpenCudaDevice(int32_t local_rank, meshwright::worker::ThreadHub* hub, char* error,
                         size_t error_size) {
  try {
    return new meshwright::worker::CudaDevice(local_rank, hub);
  } catch (const c10::Error& exception) {
    std::snprintf(error, error_size, "CUDA device %d can't be used: %s", local_rank,
                  exception.what_without_backtrace());
  } catch (const std::exception& exception) {
    std::snprintf(error, error_size, "CUDA device %d can't be used: %s", local_rank,
                  exception.what());
  }
  return nullptr;
}

extern "C" __attribute__((visibility("default"))) void MeshwrightListCudaDevices(
    meshwright::trial::DeviceList* list) {
  int count = 0;
  cudaError_t error = cudaGetDeviceCount(&count);
  for (int index = 0; error == cudaSuccess && index < count; ++index) {
    cudaDeviceProp properties{};
    error = cudaGetDeviceProperties(&properties, index);
    if (error != cudaSuccess) break;
    list->devices.push_back({.index = index,
                             .name = properties.name,
                             .memory_bytes = static_cast<int64_t>(properties.totalGlobalMem),
                             .compute_capability = std::to_string(properties.major) + "." +
                                                   std::to_string(properties.minor)});
  }
  if (error != cudaSuccess) list->reason = cudaGetErrorString(error);
  if (error == cudaSuccess && count == 0) list->reason = "CUDA shows this process no device";
}
