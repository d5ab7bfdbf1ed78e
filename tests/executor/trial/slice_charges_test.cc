#include "executor/trial/slice_charges.h"

#include <gtest/gtest.h>

#include "planner/catalog/catalog.h"
#include "planner/cost/collective.h"
#include "tests/executor/test_models.h"

namespace meshwright::trial {
namespace {

// A record in which nothing waits, as of a rank that is alone: two forwards from 0 to 10 and from
// 10 to 20, and a second behind them.
class ReplayTest : public testing::Test {
 protected:
  void Add(const char* group, double issued_s, double waited_at_s) {
    CommunicationSpan span;
    span.group = group;
    span.issued_s = issued_s;
    span.wait = {waited_at_s, waited_at_s};
    span.done_s = waited_at_s;
    record_.communication.push_back(span);
  }
  // Every operation takes `each_s`.
  ReplayedStep ReplayWith(double each_s) const {
    return Replay(record_, [each_s](const CommunicationSpan&) { return each_s; });
  }

  StepRecord record_ = {
      .step = {0.0, 21.0},
      .phases = {},
      .actions = {{.action = {planner::ActionKind::kForward, 0, 0}, .time = {0.0, 10.0}},
                  {.action = {planner::ActionKind::kForward, 1, 0}, .time = {10.0, 20.0}}},
      .optimizer = {},
      .communication = {}};
};

TEST_F(ReplayTest, WhatIsWaitedForAtOnceIsAddedInFull) {
  Add("tp", 4.0, 4.0);
  Add("tp", 6.0, 6.0);
  Add("cp", 15.0, 15.0);
  const ReplayedStep step = ReplayWith(3.0);
  EXPECT_DOUBLE_EQ(step.actions[0][Phase::kTensorParallel], 6.0);
  EXPECT_DOUBLE_EQ(step.actions[1][Phase::kTensorParallel], 0.0);
  EXPECT_DOUBLE_EQ(step.actions[1][Phase::kContextParallel], 3.0);
  EXPECT_DOUBLE_EQ(step.behind.total_s(), 0.0);
}

TEST_F(ReplayTest, ComputationInBetweenHides) {
  Add("cp", 2.0, 4.0);
  Add("cp", 12.0, 19.0);
  const ReplayedStep step = ReplayWith(3.0);
  EXPECT_DOUBLE_EQ(step.actions[0][Phase::kContextParallel], 1.0);
  EXPECT_DOUBLE_EQ(step.actions[1][Phase::kContextParallel], 0.0);
}

TEST_F(ReplayTest, AGroupDoesOneThingAfterTheOther) {
  Add("replicas", 18.0, 20.5);
  Add("replicas", 19.0, 20.5);
  const ReplayedStep step = ReplayWith(4.0);
  // Done at 22 and at 26; the second wait begins when the first is over.
  EXPECT_DOUBLE_EQ(step.behind[Phase::kDataParallel], 5.5);
  EXPECT_DOUBLE_EQ(step.actions[1].total_s(), 0.0);
}

TEST_F(ReplayTest, OtherGroupsGoOnBesideIt) {
  Add("replicas", 18.0, 20.5);
  Add("tied_embeddings", 19.0, 20.5);
  EXPECT_DOUBLE_EQ(ReplayWith(4.0).behind[Phase::kDataParallel], 2.5);
}

TEST_F(ReplayTest, WaitingDelaysWhatIsBehindIt) {
  Add("tp", 2.0, 2.0);
  Add("cp", 1.0, 5.0);
  const ReplayedStep step = ReplayWith(6.0);
  // The tensor-parallel wait is over at 8, when the other has been done for a second.
  EXPECT_DOUBLE_EQ(step.actions[0][Phase::kTensorParallel], 6.0);
  EXPECT_DOUBLE_EQ(step.actions[0][Phase::kContextParallel], 0.0);
}

// From 2 to 5 the rank makes up what others would have sent.
TEST_F(ReplayTest, WhatIssuingTakesHidesNothing) {
  Add("cp", 2.0, 7.0);
  record_.communication[0].returned_s = 5.0;
  EXPECT_DOUBLE_EQ(ReplayWith(4.0).actions[0][Phase::kContextParallel], 2.0);
}

TEST_F(ReplayTest, WhatIssuingTakesHidesNothingOfOtherGroupsEither) {
  Add("replicas", 1.0, 20.5);
  Add("cp", 2.0, 9.0);
  record_.communication[1].returned_s = 9.0;
  const ReplayedStep step = Replay(
      record_, [](const CommunicationSpan& span) { return span.group == "replicas" ? 15.0 : 0.0; });
  // Of the 19.5 from issue to wait 7 are the other call.
  EXPECT_DOUBLE_EQ(step.behind[Phase::kDataParallel], 15.0 - 12.5);
}

// An exchange is one call and two operations.
TEST_F(ReplayTest, ACallThatIssuesTwoOperationsCountsOnce) {
  Add("cp", 2.0, 7.0);
  Add("cp", 2.0, 7.0);
  for (CommunicationSpan& span : record_.communication) span.returned_s = 5.0;
  // They end at 4 and at 6, two of compute hide as much.
  EXPECT_DOUBLE_EQ(ReplayWith(2.0).actions[0][Phase::kContextParallel], 2.0);
}

TEST_F(ReplayTest, WhatNobodyWaitsForCostsNothing) {
  Add("replicas", 18.0, 0.0);
  record_.communication[0].wait = {};
  EXPECT_DOUBLE_EQ(ReplayWith(100.0).behind.total_s(), 0.0);
}

class ChargeTest : public testing::Test {
 protected:
  double Charge(const char* group, planner::CollectiveKind operation) const {
    CommunicationSpan span;
    span.group = group;
    span.operation = operation;
    span.bytes = 1 << 20;
    return ChargeOf(step_, span);
  }

  const planner::ModelSpec model_ = TinyModel();
  const planner::TrainingSpec training_ = TinyTraining();
  const planner::ClusterSpec cluster_ = planner::FindCluster("h100", 1).value();
  const planner::FrameworkProfile profile_ = planner::FindProfile("meshwright").value();
  const planner::Layout layout_ = {.tp = 8, .cp = 2, .pp = 4, .dp = 4};
  const planner::EstimateContext context_{model_, cluster_, training_, profile_};
  const planner::StepShape step_{context_, layout_};
  const double bytes_ = 1 << 20;
};

TEST_F(ChargeTest, EachGroupIsChargedWhereItLies) {
  const planner::Network& network = step_.network;
  EXPECT_EQ(Charge("tp", planner::CollectiveKind::kAllReduce),
            planner::AllReduceTime(network, {8, 1}, bytes_));
  EXPECT_EQ(Charge("tp", planner::CollectiveKind::kReduceScatter),
            planner::ReduceScatterTime(network, {8, 1}, bytes_));
  EXPECT_EQ(Charge("cp", planner::CollectiveKind::kSend),
            planner::SendTime(network, {2, 8}, bytes_));
  EXPECT_EQ(Charge("replicas", planner::CollectiveKind::kAllReduce),
            planner::AllReduceTime(network, {8, 8}, bytes_));
  EXPECT_EQ(Charge("replicas", planner::CollectiveKind::kAllGather),
            planner::AllGatherTime(network, {8, 8}, bytes_));
  EXPECT_EQ(Charge("tied_embeddings", planner::CollectiveKind::kAllReduce),
            planner::AllReduceTime(network, {2, 128}, bytes_));
  // Across nodes it is slower.
  EXPECT_GT(Charge("replicas", planner::CollectiveKind::kAllReduce),
            Charge("tp", planner::CollectiveKind::kAllReduce));
}

TEST_F(ChargeTest, ShardsAndCopiesOfHsdpAreChargedWhereTheyLie) {
  const planner::Layout layout = {.tp = 2, .cp = 2, .dp = 8, .zero = 1, .shard_ranks = 4};
  const planner::StepShape step(context_, layout);
  CommunicationSpan scatter = {.group = "shards",
                               .operation = planner::CollectiveKind::kReduceScatter};
  CommunicationSpan sum = {.group = "copies", .operation = planner::CollectiveKind::kAllReduce};
  scatter.bytes = sum.bytes = 1 << 20;
  EXPECT_EQ(ChargeOf(step, scatter), planner::ReduceScatterTime(step.network, {4, 2}, bytes_));
  EXPECT_EQ(ChargeOf(step, sum), planner::AllReduceTime(step.network, {4, 8}, bytes_));
}

TEST_F(ChargeTest, TheSimulatorHasThePipelineAndAMessageCountsOnce) {
  EXPECT_EQ(Charge("activations_up", planner::CollectiveKind::kSend), 0.0);
  EXPECT_EQ(Charge("gradients_down", planner::CollectiveKind::kReceive), 0.0);
  EXPECT_EQ(Charge("cp", planner::CollectiveKind::kReceive), 0.0);
  EXPECT_EQ(Charge("world", planner::CollectiveKind::kAllReduce), 0.0);
}

}  // namespace
}  // namespace meshwright::trial
