// The entry points that the worker looks up in meshwright-cuda.so.
#include <c10/cuda/CUDAFunctions.h>
#include <c10/util/Exception.h>

#include <cstdio>
#include <exception>

#include "executor/worker/cuda/cuda_device.h"
#include "executor/worker/open_device.h"

extern "C" __attribute__((visibility("default"))) meshwright::Device* MeshwrightOpenCudaDevice(
    int32_t local_rank, meshwright::ThreadHub* hub, char* error, size_t error_size) {
  try {
    return new meshwright::CudaDevice(local_rank, hub);
  } catch (const c10::Error& exception) {
    std::snprintf(error, error_size, "CUDA device %d can't be used: %s", local_rank,
                  exception.what_without_backtrace());
  } catch (const std::exception& exception) {
    std::snprintf(error, error_size, "CUDA device %d can't be used: %s", local_rank,
                  exception.what());
  }
  return nullptr;
}

extern "C" __attribute__((visibility("default"))) int32_t MeshwrightCountCudaDevices() {
  return c10::cuda::device_count();
}
