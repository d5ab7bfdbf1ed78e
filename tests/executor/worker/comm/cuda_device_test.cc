// A CUDA device's memory and arithmetic, as a rank is told of them.
#include <ATen/TensorOperators.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/mm.h>
#include <ATen/ops/randn.h>
#include <gtest/gtest.h>

#include <iostream>
#include <memory>
#include <vector>

#include "tests/executor/cuda_test_device.h"

namespace meshwright::worker {
namespace {

constexpr int64_t kMib = int64_t{1} << 20;

class CudaDeviceTest : public testing::Test {
 protected:
  void SetUp() override {
    if (trial::CudaDeviceCount() == 0) {
      // CTest reports the file as skipped when it sees this line.
      std::cout << "[  SKIPPED ] the whole file: no CUDA device\n";
      GTEST_SKIP() << "no CUDA device: " << trial::CudaDevices().reason;
    }
    device_ = trial::OpenCudaTestDevice(0);
  }

  at::Tensor Bytes(int64_t count) const {
    return at::empty({count}, at::TensorOptions().dtype(at::kByte).device(device_->torch_device()));
  }

  std::unique_ptr<Device> device_;
};

TEST_F(CudaDeviceTest, IsTheOneThatIsListed) {
  EXPECT_EQ(device_->Describe().name, trial::CudaDevices().devices.front().name);
  EXPECT_EQ(device_->Describe().memory_bytes, trial::CudaDevices().devices.front().memory_bytes);
}

TEST_F(CudaDeviceTest, AShortageTellsWhatWasHeldAlthoughAllOfItIsReleased) {
  device_->SetMemoryLimit(512 * kMib);
  try {
    const at::Tensor held = Bytes(300 * kMib);
    Bytes(400 * kMib);
    FAIL() << "700 MiB fitted in 512 MiB";
  } catch (const std::exception& error) {
    const auto shortage = device_->AsMemoryShortage(error);
    ASSERT_TRUE(shortage.has_value()) << error.what();
    EXPECT_GE(shortage->requested_bytes, 400 * kMib);
    EXPECT_GE(shortage->held_bytes, 300 * kMib);
    EXPECT_NEAR(static_cast<double>(shortage->limit_bytes), 512.0 * kMib, 1.0 * kMib);
  }
  device_->SetMemoryLimit(device_->Describe().memory_bytes);
}

TEST_F(CudaDeviceTest, ReservesWhatTensorsHoldAndMore) {
  device_->ResetPeakMemory();
  const int64_t before = device_->PeakMemory().allocated_bytes;
  { const at::Tensor held = Bytes(100 * kMib); }
  const trial::MemoryPeaks peaks = device_->PeakMemory();
  EXPECT_EQ(peaks.allocated_bytes - before, 100 * kMib);
  ASSERT_TRUE(peaks.device.has_value());
  EXPECT_GE(peaks.device->peak_reserved_bytes, peaks.allocated_bytes);
  EXPECT_EQ(peaks.device->allocator_retries, 0);
  EXPECT_EQ(peaks.device->communicator_bytes, 0);
}

// Segments that can't grow keep what blocks of another size left.
TEST_F(CudaDeviceTest, GrowingBlocksLeaveNoGaps) {
  device_->ResetPeakMemory();
  for (int64_t mib = 100; mib <= 400; mib += 20) Bytes(mib * kMib);
  EXPECT_LT(device_->PeakMemory().device->peak_reserved_bytes, 600 * kMib);
}

// TF32 keeps ten bits of mantissa: its products are off by a thousandth.
TEST_F(CudaDeviceTest, ProductsInFp32AreIeees) {
  const at::Tensor a = at::randn({256, 1024}, at::kDouble);
  const at::Tensor b = at::randn({1024, 256}, at::kDouble);
  const auto on_device = [&](const at::Tensor& tensor) {
    return tensor.to(at::kFloat).to(device_->torch_device());
  };
  const at::Tensor product = at::mm(on_device(a), on_device(b)).to(at::kCPU).to(at::kDouble);
  const at::Tensor expected = at::mm(a, b);
  EXPECT_LT((product - expected).norm().item<double>() / expected.norm().item<double>(), 1e-6);
}

}  // namespace
}  // namespace meshwright::worker
