// NCCL's communicators: one device per rank, ranks as threads of this process.
#include <algorithm>
#include <iostream>

#include "tests/executor/cuda_test_device.h"
#include "tests/executor/worker/communicator_conformance.h"

namespace meshwright {
namespace {

// A rank's device goes with its communicator.
class OnItsDevice final : public Communicator {
 public:
  OnItsDevice(MeetingPlace& place, const GroupSpec& group, int32_t rank)
      : device_(OpenCudaTestDevice(rank)),
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
  const int32_t ranks = std::min(3, CudaDeviceCount());
  if (ranks < 2) return {};
  return {{.name = "nccl", .connect = JoinNccl, .ranks = ranks, .device = c10::DeviceType::CUDA}};
}

GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(CommunicatorTest);
INSTANTIATE_TEST_SUITE_P(Devices, CommunicatorTest, testing::ValuesIn(Implementations()),
                         [](const auto& test) { return test.param.name; });

TEST(NcclCommunicatorTest, HasDevicesForTwoRanks) {
  const int32_t devices = CudaDeviceCount();
  if (devices < 2) {
    // CTest reports the file as skipped when it sees this line.
    std::cout << "[  SKIPPED ] the whole file: needs 2 CUDA devices, here are " << devices << "\n";
    GTEST_SKIP() << "needs 2 CUDA devices, here are " << devices;
  }
}

}  // namespace
}  // namespace meshwright
