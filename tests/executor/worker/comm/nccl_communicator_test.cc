// NCCL's communicators: one device per rank, ranks as threads of this process. One device shows how
// a group is set up, timed and ended; the suite of all communicators needs two.
#include <ATen/ops/full.h>

#include <algorithm>
#include <iostream>

#include "tests/executor/cuda_test_device.h"
#include "tests/executor/worker/comm/communicator_conformance.h"

namespace meshwright::worker {
namespace {

// A rank's device goes with its communicator.
class OnItsDevice final : public Communicator {
 public:
  OnItsDevice(MeetingPlace& place, const GroupSpec& group, int32_t rank)
      : device_(trial::OpenCudaTestDevice(rank)),
        communicator_(device_->Connect(place.store, group, rank)) {}
  // What is under way still needs the group.
  ~OnItsDevice() override { device_->Synchronize(); }
  OnItsDevice(const OnItsDevice&) = delete;
  OnItsDevice& operator=(const OnItsDevice&) = delete;

  int32_t rank() const override { return communicator_->rank(); }
  int32_t size() const override { return communicator_->size(); }
  Pending AllReduce(const at::Tensor& tensor, Reduction reduction) override {
    return communicator_->AllReduce(tensor, reduction);
  }
  Pending AllGather(const at::Tensor& output, const at::Tensor& input) override {
    return communicator_->AllGather(output, input);
  }
  Pending ReduceScatter(const at::Tensor& output, const at::Tensor& input) override {
    return communicator_->ReduceScatter(output, input);
  }
  Pending AllToAll(const at::Tensor& output, const std::vector<int64_t>& received_rows,
                   const at::Tensor& input, const std::vector<int64_t>& sent_rows) override {
    return communicator_->AllToAll(output, received_rows, input, sent_rows);
  }
  Pending Broadcast(const at::Tensor& tensor, int32_t root) override {
    return communicator_->Broadcast(tensor, root);
  }
  Pending Send(const at::Tensor& tensor, int32_t to) override {
    return communicator_->Send(tensor, to);
  }
  Pending Receive(const at::Tensor& tensor, int32_t from) override {
    return communicator_->Receive(tensor, from);
  }
  PendingExchange Exchange(const at::Tensor& outgoing, int32_t to, const at::Tensor& incoming,
                           int32_t from) override {
    return communicator_->Exchange(outgoing, to, incoming, from);
  }

 private:
  const std::unique_ptr<Device> device_;
  const std::unique_ptr<Communicator> communicator_;
};

std::unique_ptr<Communicator> JoinNccl(MeetingPlace& place, const GroupSpec& group, int32_t rank) {
  return std::make_unique<OnItsDevice>(place, group, rank);
}

// Two or three ranks, as devices are there.
std::vector<Implementation> Implementations() {
  const int32_t ranks = std::min(3, trial::CudaDeviceCount());
  if (ranks < 2) return {};
  return {{.name = "nccl", .connect = JoinNccl, .ranks = ranks, .device = c10::DeviceType::CUDA}};
}

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(CommunicatorTest);
INSTANTIATE_TEST_SUITE_P(Devices, CommunicatorTest, testing::ValuesIn(Implementations()),
                         [](const auto& test) { return test.param.name; });

TEST(NcclCommunicatorTest, HasDevicesForTwoRanks) {
  const int32_t devices = trial::CudaDeviceCount();
  if (devices < 2) GTEST_SKIP() << "needs 2 CUDA devices, here are " << devices;
}

// A group of one rank, for either traffic.
class OneRankNcclTest : public testing::TestWithParam<Traffic> {
 protected:
  void SetUp() override {
    if (trial::CudaDeviceCount() == 0) {
      // CTest reports the file as skipped when it sees this line.
      std::cout << "[  SKIPPED ] the whole file: no CUDA device\n";
      GTEST_SKIP() << "no CUDA device";
    }
    device_ = trial::OpenCudaTestDevice(0);
    group_ = device_->Connect(
        store_,
        {.name = "one", .ranks = {0}, .timeout = kCommunicatorTimeout, .traffic = GetParam()}, 0);
  }

  at::Tensor Filled(double value) const {
    return at::full({100'000}, value, at::TensorOptions().device(device_->torch_device()));
  }

  c10::intrusive_ptr<c10d::Store> store_ = c10::make_intrusive<c10d::HashStore>();
  std::unique_ptr<Device> device_;
  std::unique_ptr<Communicator> group_;
};

TEST_P(OneRankNcclTest, ExchangesWithItself) {
  EXPECT_EQ(group_->rank(), 0);
  EXPECT_EQ(group_->size(), 1);
  const at::Tensor incoming = Filled(-1.0);
  PendingExchange exchange = group_->Exchange(Filled(3.0), 0, incoming, 0);
  exchange.received.Wait();
  exchange.sent.Wait();
  EXPECT_TRUE(AllAre(incoming, 3.0));
}

TEST_P(OneRankNcclTest, ReducesItsOwnTensors) {
  const at::Tensor tensor = Filled(3.0);
  group_->AllReduce(tensor, Reduction::kSum).Wait();
  EXPECT_TRUE(AllAre(tensor, 3.0));
}

TEST_P(OneRankNcclTest, TellsWhenAnOperationWasDone) {
  const auto clock = device_->MakeClock();
  clock->Restart();
  const DeviceClock::Mark before = clock->Now();
  const at::Tensor incoming = Filled(-1.0);
  PendingExchange exchange = group_->Exchange(Filled(3.0), 0, incoming, 0);
  const auto done = exchange.received.WatchDone();
  ASSERT_NE(done, nullptr);
  exchange.received.Wait();
  exchange.sent.Wait();
  const DeviceClock::Mark after = clock->Now();
  device_->Synchronize();
  ASSERT_TRUE(done->seconds().has_value());
  // Events of different streams are told apart by half a microsecond.
  EXPECT_GE(*done->seconds(), clock->Seconds(before) - 1e-5);
  EXPECT_LE(*done->seconds(), clock->Seconds(after) + 1e-5);
}

TEST_P(OneRankNcclTest, ClosesAfterItsLastOperationAndKeepsTheResult) {
  const at::Tensor tensor = Filled(3.0);
  Pending work = group_->AllReduce(tensor, Reduction::kSum);
  work.Wait();
  group_->Close();
  group_.reset();
  EXPECT_TRUE(AllAre(tensor, 3.0));
  // There is nothing of it that a second one would stumble over.
  group_ =
      device_->Connect(store_, {.name = "next", .ranks = {0}, .timeout = kCommunicatorTimeout}, 0);
  group_->AllReduce(tensor, Reduction::kSum).Wait();
  EXPECT_TRUE(AllAre(tensor, 3.0));
  group_->Close();
}

TEST_P(OneRankNcclTest, MayBeDroppedWithoutBeingClosed) {
  const at::Tensor tensor = Filled(3.0);
  group_->AllReduce(tensor, Reduction::kSum).Wait();
  device_->Synchronize();
  group_.reset();
  EXPECT_TRUE(AllAre(tensor, 3.0));
}

INSTANTIATE_TEST_SUITE_P(EveryTraffic, OneRankNcclTest,
                         testing::Values(Traffic::kCollectives, Traffic::kMessages),
                         [](const auto& test) {
                           return test.param == Traffic::kMessages ? "Messages" : "Collectives";
                         });

}  // namespace
}  // namespace meshwright::worker
