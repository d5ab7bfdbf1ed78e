#include <cuda_runtime.h>
#include <gtest/gtest.h>

#include <iostream>
#include <memory>
#include <stdexcept>
#include <vector>

#include "tests/kernels/number_suite.h"
#include "tests/kernels/operator_suite.h"

namespace meshwright::kernels {
namespace {

void Check(cudaError_t error) {
  if (error != cudaSuccess) throw std::runtime_error(cudaGetErrorString(error));
}

class DeviceMemory final : public Memory {
 public:
  ~DeviceMemory() override {
    for (void* block : blocks_) cudaFree(block);
  }
  void* Allocate(size_t bytes) override {
    Check(cudaMalloc(&blocks_.emplace_back(), bytes));
    return blocks_.back();
  }
  void Upload(void* to, const void* from, size_t bytes) override {
    Check(cudaMemcpy(to, from, bytes, cudaMemcpyHostToDevice));
  }
  void Download(void* to, const void* from, size_t bytes) override {
    Check(cudaMemcpy(to, from, bytes, cudaMemcpyDeviceToHost));
  }

 private:
  std::vector<void*> blocks_;
};

// Skips where there is no device.
class CudaDeviceTest : public testing::Test {
 protected:
  void SetUp() override {
    int devices = 0;
    const cudaError_t error = cudaGetDeviceCount(&devices);
    if (error == cudaSuccess && devices > 0) return;
    // CTest reports the file as skipped when it sees this line.
    std::cout << "[  SKIPPED ] the whole file: no CUDA device (" << cudaGetErrorString(error)
              << ")\n";
    GTEST_SKIP() << "no CUDA device: " << cudaGetErrorString(error);
  }

  const std::unique_ptr<Kernels> kernels_ = MakeCudaKernels([]() -> void* { return nullptr; });
};

class CudaKernelsTest : public CudaDeviceTest, public testing::WithParamInterface<OperatorParam> {};

TEST_P(CudaKernelsTest, AgreesWithTheReference) {
  DeviceMemory memory;
  ExpectTheReferencesNumbers(*kernels_, memory, GetParam());
}

INSTANTIATE_TEST_SUITE_P(AllOperators, CudaKernelsTest, AllOperators(),
                         [](const auto& test) { return NameOf(test.param); });

using CudaNumbersTest = CudaDeviceTest;

TEST_F(CudaNumbersTest, RoundsEveryKindOfNumberToBf16) {
  DeviceMemory memory;
  ExpectBf16OfEveryKind(*kernels_, memory);
}

TEST_F(CudaNumbersTest, TakesGatesOfEverySize) {
  DeviceMemory memory;
  ExpectSwigluOfEveryGate(*kernels_, memory);
}

TEST_F(CudaNumbersTest, MakesTheReferencesNormals) {
  DeviceMemory memory;
  ExpectTheReferencesNormals(*kernels_, memory);
}

TEST_F(CudaNumbersTest, RoundsEveryKindOfNumberToE4m3) {
  DeviceMemory memory;
  ExpectE4m3OfEveryKind(*kernels_, memory);
}

TEST_F(CudaNumbersTest, QuantisesTilesOfEveryShapeToTheBit) {
  DeviceMemory memory;
  ExpectTheReferencesTiles(*kernels_, memory);
}

using CudaEmbeddingTest = CudaDeviceTest;

TEST_F(CudaEmbeddingTest, AddsUpTheSameInEveryRun) {
  DeviceMemory memory;
  ExpectTheSameEmbeddingGradient(*kernels_, memory, [](const auto& run) { return run(); });
}

}  // namespace
}  // namespace meshwright::kernels
