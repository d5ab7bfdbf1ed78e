#include <cuda_runtime.h>
#include <gtest/gtest.h>

#include <iostream>
#include <stdexcept>
#include <string>
#include <tuple>
#include <vector>

#include "tests/kernels/operator_cases.h"

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

class CudaKernelsTest : public testing::TestWithParam<std::tuple<ElementType, size_t>> {
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
};

TEST_P(CudaKernelsTest, AgreesWithTheReference) {
  const auto& [type, index] = GetParam();
  const OperatorCase operator_case = OperatorCases()[index];
  HostMemory host;
  DeviceMemory device;
  const auto kernels = MakeCudaKernels([]() -> void* { return nullptr; });
  const auto expected = operator_case.run(*MakeReferenceKernels(), host, type);
  const auto actual = operator_case.run(*kernels, device, type);
  EXPECT_LT(RelativeError(actual, expected), Tolerance(type));
}

INSTANTIATE_TEST_SUITE_P(AllOperators, CudaKernelsTest,
                         testing::Combine(testing::ValuesIn(kElementTypes),
                                          testing::Range<size_t>(0, OperatorCases().size())),
                         [](const auto& test) {
                           return TypeName(std::get<0>(test.param)) +
                                  OperatorCases()[std::get<1>(test.param)].name;
                         });

}  // namespace
}  // namespace meshwright::kernels
