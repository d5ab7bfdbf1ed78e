#include "executor/worker/observe/timed_communicator.h"

#include <ATen/core/Tensor.h>
#include <ATen/ops/zeros.h>
#include <gtest/gtest.h>

#include <chrono>
#include <thread>

#include "executor/worker/comm/fake_communicator.h"
#include "executor/worker/comm/thread_communicator.h"

namespace meshwright::worker {
namespace {

// Rank 5 of the run, place 1 of the group {2, 5}.
class TimedCommunicatorTest : public testing::Test {
 protected:
  std::unique_ptr<Communicator> Group(const char* name, trial::Phase phase) {
    return TimeCommunicator(MakeFakeCommunicator(1, 2, nullptr),
                            {.name = name, .ranks = {2, 5}, .phase = phase}, recorder_);
  }

  PhaseClock clock_;
  StepRecorder recorder_{clock_};
};

TEST_F(TimedCommunicatorTest, RecordsEveryOperationWithItsBytesAndPeer) {
  const auto group = Group("tp", trial::Phase::kTensorParallel);
  recorder_.BeginStep();
  group->AllReduce(at::zeros({10}, at::kFloat), Reduction::kSum).Wait();
  group->AllGather(at::zeros({20}, at::kFloat), at::zeros({10}, at::kFloat)).Wait();
  group->ReduceScatter(at::zeros({10}, at::kFloat), at::zeros({20}, at::kFloat)).Wait();
  group->Broadcast(at::zeros({3}, at::kFloat), 0).Wait();
  group->Send(at::zeros({7}, at::kFloat), 0).Wait();
  group->Receive(at::zeros({7}, at::kBFloat16), 0).Wait();
  recorder_.EndStep();
  const trial::StepRecord record = recorder_.Take();
  const std::vector<int64_t> bytes = {40, 80, 80, 12, 28, 14};
  ASSERT_EQ(record.communication.size(), bytes.size());
  double before_s = record.step.begin_s;
  for (size_t i = 0; i < bytes.size(); ++i) {
    const trial::CommunicationSpan& span = record.communication[i];
    EXPECT_EQ(span.group, "tp");
    EXPECT_EQ(span.operation, static_cast<planner::CollectiveKind>(i));
    EXPECT_EQ(span.bytes, bytes[i]);
    EXPECT_EQ(span.peer, i < 4 ? -1 : 2);
    EXPECT_GE(span.issued_s, before_s);
    EXPECT_GT(span.returned_s, span.issued_s);
    EXPECT_GE(span.wait.begin_s, span.returned_s);
    EXPECT_GE(span.wait.end_s, span.wait.begin_s);
    EXPECT_EQ(span.done_s, span.wait.end_s);
    before_s = span.wait.end_s;
  }
  EXPECT_GE(record.step.end_s, before_s);
}

TEST_F(TimedCommunicatorTest, AnExchangeIsASendAndAReceive) {
  const auto group = Group("cp", trial::Phase::kContextParallel);
  recorder_.BeginStep();
  PendingExchange exchange =
      group->Exchange(at::zeros({7}, at::kFloat), 0, at::zeros({5}, at::kFloat), 0);
  exchange.received.Wait();
  exchange.sent.Wait();
  recorder_.EndStep();
  const trial::StepRecord record = recorder_.Take();
  ASSERT_EQ(record.communication.size(), 2u);
  EXPECT_EQ(record.communication[0].operation, planner::CollectiveKind::kSend);
  EXPECT_EQ(record.communication[0].bytes, 28);
  EXPECT_EQ(record.communication[1].operation, planner::CollectiveKind::kReceive);
  EXPECT_EQ(record.communication[1].bytes, 20);
  for (const trial::CommunicationSpan& span : record.communication) {
    EXPECT_EQ(span.peer, 2);
    EXPECT_GT(span.returned_s, span.issued_s);
    EXPECT_GE(span.wait.begin_s, span.returned_s);
    EXPECT_GE(span.wait.end_s, span.wait.begin_s);
  }
}

TEST_F(TimedCommunicatorTest, WhatHappensOutsideOfAStepIsDropped) {
  const auto group = Group("world", trial::Phase::kOther);
  group->AllReduce(at::zeros({1}, at::kFloat), Reduction::kSum).Wait();
  recorder_.BeginStep();
  Pending open = group->AllReduce(at::zeros({2}, at::kFloat), Reduction::kSum);
  recorder_.EndStep();
  const trial::StepRecord first = recorder_.Take();
  ASSERT_EQ(first.communication.size(), 1u);
  EXPECT_EQ(first.communication[0].wait, trial::TimeSpan());
  EXPECT_EQ(first.communication[0].done_s, first.step.end_s);
  recorder_.BeginStep();
  // Belongs to the step before.
  open.Wait();
  recorder_.EndStep();
  EXPECT_TRUE(recorder_.Take().communication.empty());
}

TEST_F(TimedCommunicatorTest, TellsTheEndApartFromTheWait) {
  using std::chrono::milliseconds;
  ThreadHub hub;
  const GroupSpec spec{.name = "dp", .ranks = {0, 1}, .timeout = milliseconds(10000)};
  const auto group = TimeCommunicator(
      hub.Join(spec, 0, HostOrder()),
      {.name = "dp", .ranks = {0, 1}, .phase = trial::Phase::kDataParallel}, recorder_);
  recorder_.BeginStep();
  const at::Tensor tensor = at::zeros({10}, at::kFloat);
  Pending work = group->AllReduce(tensor, Reduction::kSum);
  std::thread peer([&] {
    hub.Join(spec, 1, HostOrder())->AllReduce(at::zeros({10}, at::kFloat), Reduction::kSum).Wait();
  });
  peer.join();
  std::this_thread::sleep_for(milliseconds(20));
  work.Wait();
  recorder_.EndStep();
  const trial::CommunicationSpan span = recorder_.Take().communication.at(0);
  EXPECT_GT(span.done_s, span.issued_s);
  EXPECT_GT(span.wait.begin_s - span.done_s, 0.015);
}

TEST_F(TimedCommunicatorTest, ThePhasesOfAStepAddUp) {
  const auto group = Group("tp", trial::Phase::kTensorParallel);
  recorder_.BeginStep();
  {
    const ScopedAction action(recorder_, {planner::ActionKind::kForward, 3, 1});
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    group->AllReduce(at::zeros({1000}, at::kFloat), Reduction::kSum).Wait();
  }
  { const ScopedAction action(recorder_, {planner::ActionKind::kBackwardWeight, 3, 1}); }
  {
    const ScopedPhase phase(clock_, trial::Phase::kOptimizer);
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  recorder_.EndStep();
  const trial::StepRecord record = recorder_.Take();
  EXPECT_NEAR(record.phases.total_s(), record.step.duration_s(), 1e-5);
  EXPECT_GE(record.phases[trial::Phase::kForward], 0.005);
  EXPECT_GT(record.phases[trial::Phase::kTensorParallel], 0.0);
  ASSERT_EQ(record.actions.size(), 2u);
  EXPECT_NEAR(record.actions[0].communication_s, record.phases[trial::Phase::kTensorParallel],
              1e-9);
  EXPECT_EQ(record.actions[1].communication_s, 0.0);
  EXPECT_EQ(record.actions[0].action, (planner::Action{planner::ActionKind::kForward, 3, 1}));
  EXPECT_LE(record.actions[0].time.end_s, record.actions[1].time.begin_s);
  EXPECT_GE(record.optimizer.duration_s(), 0.002);
}

}  // namespace
}  // namespace meshwright::worker
