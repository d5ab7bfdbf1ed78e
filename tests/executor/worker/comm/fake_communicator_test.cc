#include "executor/worker/comm/fake_communicator.h"

#include <ATen/core/Tensor.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/full.h>
#include <ATen/ops/zeros.h>
#include <gtest/gtest.h>

#include <vector>

namespace meshwright::worker {
namespace {

// Rank 1 of 3, and what it reported.
class FakeCommunicatorTest : public testing::Test {
 protected:
  std::vector<FakeCall> calls_;
  std::unique_ptr<Communicator> rank_ =
      MakeFakeCommunicator(1, 3, [this](const FakeCall& call) { calls_.push_back(call); });
};

TEST_F(FakeCommunicatorTest, TakesTheOthersToBringWhatItBrings) {
  const at::Tensor sum = at::full({5}, 2.0, at::kFloat);
  rank_->AllReduce(sum, Reduction::kSum).Wait();
  EXPECT_EQ(sum[0].item<float>(), 6.0f);

  const at::Tensor most = at::full({5}, 2.0, at::kFloat);
  rank_->AllReduce(most, Reduction::kMax).Wait();
  EXPECT_EQ(most[0].item<float>(), 2.0f);

  const at::Tensor gathered = at::zeros({6}, at::kFloat);
  rank_->AllGather(gathered, at::full({2}, 7.0, at::kFloat)).Wait();
  EXPECT_EQ(gathered.sum().item<float>(), 42.0f);

  const at::Tensor part = at::zeros({2}, at::kFloat);
  const at::Tensor whole = at::zeros({6}, at::kFloat);
  whole.narrow(0, 2, 2).fill_(5.0);
  rank_->ReduceScatter(part, whole).Wait();
  EXPECT_EQ(part[0].item<float>(), 15.0f);
}

TEST_F(FakeCommunicatorTest, WorksInPlace) {
  const at::Tensor all = at::zeros({6}, at::kFloat);
  const at::Tensor own = all.narrow(0, 2, 2);
  own.fill_(7.0);
  rank_->AllGather(all, own).Wait();
  EXPECT_EQ(all.sum().item<float>(), 42.0f);
  rank_->ReduceScatter(own, all).Wait();
  EXPECT_EQ(own[1].item<float>(), 21.0f);
}

TEST_F(FakeCommunicatorTest, MessagesArriveAsNoise) {
  const at::Tensor tensor = at::full({100}, 7.0, at::kBFloat16);
  rank_->Receive(tensor, 0).Wait();
  EXPECT_GT(tensor.sub(tensor[0]).abs().max().item<float>(), 0.0f);
  EXPECT_LE(tensor.abs().max().item<float>(), 1.0f);
}

TEST_F(FakeCommunicatorTest, ReportsTheFullBufferOfEachCall) {
  rank_->AllReduce(at::zeros({10}, at::kFloat), Reduction::kSum).Wait();
  rank_->AllGather(at::zeros({30}, at::kFloat), at::zeros({10}, at::kFloat)).Wait();
  rank_->ReduceScatter(at::zeros({10}, at::kBFloat16), at::zeros({30}, at::kBFloat16)).Wait();
  rank_->Send(at::zeros({7}, at::kFloat), 2).Wait();
  const std::vector<int64_t> bytes = {40, 120, 60, 28};
  ASSERT_EQ(calls_.size(), bytes.size());
  for (size_t i = 0; i < bytes.size(); ++i) EXPECT_EQ(calls_[i].bytes, bytes[i]) << i;
  EXPECT_EQ(calls_.back().operation, planner::CollectiveKind::kSend);
}

TEST_F(FakeCommunicatorTest, OthersSendWhatThisRankSendsItself) {
  const at::Tensor input = at::arange(6.0).view({6, 1});
  const at::Tensor output = at::zeros({6, 1});
  const int64_t own = rank_->rank();
  rank_->AllToAll(output, {2, 2, 2}, input, {2, 2, 2}).Wait();
  EXPECT_TRUE(at::equal(output, input.narrow(0, 2 * own, 2).repeat({3, 1})));
}

TEST_F(FakeCommunicatorTest, OthersThatSendMoreOrLessSendNoise) {
  const at::Tensor input = at::full({6, 1}, 7.0);
  const at::Tensor output = at::full({6, 1}, 9.0);
  std::vector<int64_t> received = {1, 3};
  received.insert(received.begin() + rank_->rank(), 2);
  rank_->AllToAll(output, received, input, {2, 2, 2}).Wait();
  EXPECT_EQ(output.eq(7.0).sum().item<int64_t>(), 2);
  EXPECT_EQ(output.abs().lt(1.0).sum().item<int64_t>(), 4);
  EXPECT_THROW(rank_->AllToAll(output, {1, 2, 4}, input, {2, 2, 2}), CommunicationError);
  received[static_cast<size_t>(rank_->rank())] = 1;
  received[static_cast<size_t>((rank_->rank() + 1) % 3)] += 1;
  EXPECT_THROW(rank_->AllToAll(output, received, input, {2, 2, 2}), CommunicationError);
}

TEST_F(FakeCommunicatorTest, RefusesShapesAndRanksThatDoNotFit) {
  EXPECT_THROW(rank_->AllGather(at::zeros({7}), at::zeros({2})), CommunicationError);
  EXPECT_THROW(rank_->ReduceScatter(at::zeros({3}), at::zeros({6})), CommunicationError);
  EXPECT_THROW(rank_->Send(at::zeros({1}), 3), CommunicationError);
  EXPECT_THROW(MakeFakeCommunicator(3, 3, nullptr), CommunicationError);
}

}  // namespace
}  // namespace meshwright::worker
