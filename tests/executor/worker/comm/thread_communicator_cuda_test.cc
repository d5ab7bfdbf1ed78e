// The thread communicator on one GPU: ranks are threads, each on a stream of its own.
#include <ATen/ops/full.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/randn.h>

#include <exception>
#include <functional>
#include <iostream>
#include <latch>
#include <mutex>
#include <thread>

#include "tests/executor/cuda_test_device.h"
#include "tests/executor/worker/comm/communicator_conformance.h"

namespace meshwright::worker {
namespace {

// Opened by the rank's thread when it joins its first group.
Device& DeviceOf(MeetingPlace& place, int32_t rank) {
  {
    const std::lock_guard lock(place.mutex);
    const auto found = place.devices.find(rank);
    if (found != place.devices.end()) return *found->second;
  }
  std::unique_ptr<Device> device = trial::OpenCudaTestDevice(0, &place.hub);
  const std::lock_guard lock(place.mutex);
  return *(place.devices[rank] = std::move(device));
}

std::unique_ptr<Communicator> JoinOnOneDevice(MeetingPlace& place, const GroupSpec& group,
                                              int32_t rank) {
  return DeviceOf(place, rank).Connect(place.store, group, rank);
}

std::vector<Implementation> Implementations() {
  if (trial::CudaDeviceCount() == 0) return {};
  return {{.name = "cuda_threads",
           .connect = JoinOnOneDevice,
           .device = c10::DeviceType::CUDA,
           .one_device = true}};
}

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(CommunicatorTest);
INSTANTIATE_TEST_SUITE_P(OneDevice, CommunicatorTest, testing::ValuesIn(Implementations()),
                         [](const auto& test) { return test.param.name; });

class CudaThreadsTest : public testing::Test {
 protected:
  static constexpr int32_t kRanks = 3;

  void SetUp() override {
    if (trial::CudaDeviceCount() > 0) return;
    // CTest reports the file as skipped when it sees this line.
    std::cout << "[  SKIPPED ] the whole file: no CUDA device\n";
    GTEST_SKIP() << "no CUDA device";
  }

  void OnEveryRank(
      const std::function<void(int32_t rank, Device& device, Communicator& world)>& body) {
    std::vector<std::thread> threads;
    threads.reserve(kRanks);
    for (int32_t rank = 0; rank < kRanks; ++rank) {
      threads.emplace_back([&, rank] {
        try {
          const std::unique_ptr<Device> device = trial::OpenCudaTestDevice(0, &hub_);
          const auto world = device->Connect(
              {}, {.name = "world", .ranks = {0, 1, 2}, .timeout = kCommunicatorTimeout}, rank);
          body(rank, *device, *world);
          device->Synchronize();
        } catch (const std::exception& error) {
          ADD_FAILURE() << "rank " << rank << ": " << error.what();
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
  }

  // Some tens of milliseconds of work ahead of what the calling thread issues next.
  static void KeepStreamBusy() {
    at::Tensor product = at::randn({4096, 4096}, at::TensorOptions().device(at::kCUDA));
    for (int i = 0; i < 10; ++i) product = at::matmul(product, product).mul_(1e-6);
  }

  ThreadHub hub_;
};

// Rank 0 is behind on the device, not on the host.
TEST_F(CudaThreadsTest, AnOperationWaitsForEveryRanksStream) {
  OnEveryRank([](int32_t rank, Device&, Communicator& world) {
    const auto options = at::TensorOptions().device(at::kCUDA);
    const at::Tensor sum = at::full({1000}, -1.0, options);
    if (rank == 0) KeepStreamBusy();
    sum.fill_(rank + 1.0);
    world.AllReduce(sum, Reduction::kSum).Wait();
    EXPECT_TRUE(AllAre(sum, 6.0));
    const at::Tensor message = at::full({1000}, -1.0, options);
    if (rank == 0) {
      KeepStreamBusy();
      message.fill_(7.0);
      world.Send(message, 1).Wait();
    } else if (rank == 1) {
      world.Receive(message, 0).Wait();
      EXPECT_TRUE(AllAre(message, 7.0));
    }
  });
}

TEST_F(CudaThreadsTest, WaitDoesNotHoldTheHostUpForTheDevice) {
  std::latch ready(kRanks);
  OnEveryRank([&](int32_t rank, Device& device, Communicator& world) {
    const auto clock = device.MakeClock();
    clock->Restart();
    const at::Tensor sum = at::full({1000}, 1.0, at::TensorOptions().device(at::kCUDA));
    device.Synchronize();
    ready.arrive_and_wait();
    if (rank == 0) KeepStreamBusy();
    const DeviceClock::Mark before = clock->Now();
    Pending work = world.AllReduce(sum, Reduction::kSum);
    const auto done = work.WatchDone();
    work.Wait();
    EXPECT_EQ(done->seconds(), std::nullopt) << "the device was waited for";
    const DeviceClock::Mark after = clock->Now();
    device.Synchronize();
    ASSERT_TRUE(done->seconds().has_value());
    // Events of different streams are told apart by half a microsecond.
    EXPECT_GE(*done->seconds(), clock->Seconds(before) - 1e-5);
    EXPECT_LE(*done->seconds(), clock->Seconds(after) + 1e-5);
  });
}

// The copy comes after what keeps the receiver busy; the sender's memory is free to be used again.
TEST_F(CudaThreadsTest, ATensorThatIsDroppedWithoutAWaitKeepsItsMemoryUntilTheEnd) {
  std::latch posted(1);
  OnEveryRank([&](int32_t rank, Device&, Communicator& world) {
    const auto options = at::TensorOptions().device(at::kCUDA);
    constexpr int64_t kCount = 1 << 22;
    if (rank == 0) {
      at::Tensor sent = at::full({kCount}, 3.0, options);
      posted.wait();
      world.Send(sent, 1);
      sent.reset();
      at::full({kCount}, -5.0, options);
    } else if (rank == 1) {
      const at::Tensor received = at::full({kCount}, -1.0, options);
      KeepStreamBusy();
      Pending work = world.Receive(received, 0);
      posted.count_down();
      work.Wait();
      EXPECT_TRUE(AllAre(received, 3.0));
    }
  });
}

}  // namespace
}  // namespace meshwright::worker
