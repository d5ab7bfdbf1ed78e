// Groups of remote ranks, whose followers the test plays.
#include "executor/gang/remote_rank.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <string>
#include <vector>

#include "executor/trial/rank_events.h"
#include "executor/trial/trial_runner.h"
#include "tests/executor/gang/fake_follower.h"
#include "tests/executor/gang/tls_pair.h"
#include "tests/executor/test_models.h"

namespace meshwright::gang {
namespace {

using testing::HasSubstr;
using trial::Phase;
using trial::TrialOutcome;

trial::TrialPlan TwoStages(int32_t steps) {
  trial::TrialPlan plan;
  plan.model = trial::TinyModel();
  plan.training = trial::TinyTraining();
  plan.layout = {.pp = 2};
  plan.steps = steps;
  plan.timeout_s = 60.0;
  return plan;
}

Frame EventOf(int32_t rank, const trial::RankEvent& event) {
  return EventFrame{.rank = rank, .line = ToJson(event).dump()};
}

// A message from rank 0, which the other waited for from second 2 and which was sent in second 5,
// as a rank whose clock is `ahead_s` ahead tells it.
trial::StepEvent StepOf(int32_t rank, double ahead_s) {
  trial::StepProfile profile;
  profile.phases[Phase::kPipeline] = 5.5;
  profile.messages = {{.group = "activations_up",
                       .peer = 1 - rank,
                       .sent = rank == 0,
                       .issued_s = {rank == 0 ? 5.0 : 2.0},
                       .waits = {rank == 0 ? trial::TimeSpan{6.5, 7.0} : trial::TimeSpan{2.0, 7.0}},
                       .done_s = {7.0}}};
  ShiftTimes(ahead_s, profile);
  trial::StepEvent event{.step = 0, .step_s = 8.0, .profile = profile};
  event.gradient_square_sum = 1.0;
  if (rank == 1) event.loss = 4.0;
  return event;
}

std::vector<Frame> WholeRun(int32_t rank, double ahead_s) {
  trial::DoneEvent done{.stop_reason = trial::StopReason::kSteps, .measured_peak_flops = 1e9};
  trial::StepRecord record;
  record.step = {1.0 + ahead_s, 9.0 + ahead_s};
  done.trace = trial::TracedStep{.name = "r", .record = record};
  return {EventOf(rank, trial::BeginEvent{.step = 0}), EventOf(rank, StepOf(rank, ahead_s)),
          EventOf(rank, done), ExitFrame{.rank = rank}};
}

// Two members of a rank each, both of them followers.
class RemoteRankTest : public testing::Test {
 protected:
  void Add(int32_t rank, double clock_ahead_s, std::vector<Frame> says,
           std::vector<Frame> says_at_end = {}) {
    if (says_at_end.empty()) says_at_end = {ExitFrame{.rank = rank, .wait_status = SIGKILL}};
    TlsPair pair = MakeTlsPair();
    followers_.push_back(std::make_unique<FakeFollower>(std::move(pair.dialer), clock_ahead_s,
                                                        std::move(says), std::move(says_at_end)));
    const std::string agent(1, static_cast<char>('a' + rank));
    auto remote =
        std::make_shared<RemoteMember>(Member{.agent = agent, .first_rank = rank, .ranks = 1},
                                       Link(std::move(pair.listener), MonotonicNow), timing_);
    // As while the others join.
    for (int i = 0; i < 20; ++i) {
      remote->Pump();
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    remote->Start({.store_port = 7});
    ranks_.push_back({.rank = rank, .process = std::make_unique<RemoteRank>(remote, rank)});
  }

  trial::RanksRun Run(const trial::TrialPlan& plan) {
    trial::TrialRunnerOptions options;
    options.grace_s = grace_s_;
    options.trace = [this](const std::vector<trial::RankTrace>& traces) { traces_ = traces; };
    return WatchRanks(plan, std::move(ranks_), options);
  }

  Timing timing_;
  double grace_s_ = 10.0;  // shorter in tests in which a rank outlives another one's failure
  std::vector<std::unique_ptr<FakeFollower>> followers_;
  std::vector<trial::StartedRank> ranks_;
  std::vector<trial::RankTrace> traces_;
};

TEST_F(RemoteRankTest, ClocksOfHostsMayDiffer) {
  constexpr double kAheadS = 1234.5;
  Add(0, 0.0, WholeRun(0, 0.0));
  Add(1, kAheadS, WholeRun(1, kAheadS));
  const trial::RanksRun run = Run(TwoStages(1));
  ASSERT_EQ(run.result.outcome, TrialOutcome::kOk) << run.result.message;
  EXPECT_EQ(run.result.losses, std::vector<double>{4.0});
  // Rank 1 waited three seconds for one who had not come, and two for the message.
  EXPECT_NEAR(run.result.ranks[1].phases[Phase::kBubble], 3.0, 0.1);
  EXPECT_NEAR(run.result.ranks[1].phases[Phase::kPipeline], 2.5, 0.1);
  ASSERT_EQ(traces_.size(), 2u);
  EXPECT_NEAR(traces_[1].record.step.begin_s, traces_[0].record.step.begin_s, 0.1);
  EXPECT_TRUE(Eventually([&] { return followers_[0]->was_told_to_end(); }));
}

TEST_F(RemoteRankTest, OneThatVanishesIsLostAndEndsAll) {
  grace_s_ = 0.1;
  Add(0, 0.0, {EventOf(0, trial::BeginEvent{.step = 0})});
  Add(1, 0.0, {EventOf(1, trial::BeginEvent{.step = 0})});
  followers_[1]->Vanish();
  const trial::RanksRun run = Run(TwoStages(1));
  EXPECT_EQ(run.result.outcome, TrialOutcome::kFailed);
  EXPECT_EQ(run.result.fault, trial::Fault::kNetwork);
  EXPECT_THAT(run.result.message,
              HasSubstr("rank 1 (pipeline rank 1) can't go on: agent b was lost"));
  EXPECT_EQ(run.cause_rank, 1);
  EXPECT_TRUE(Eventually([&] { return followers_[0]->was_told_to_end(); }));
}

// The loss is no more than what follows from another rank's end.
TEST_F(RemoteRankTest, WhatAnotherRankDidExplainsALoss) {
  Add(0, 0.0,
      {EventOf(0, trial::OomEvent{.requested_bytes = 2, .held_bytes = 3, .limit_bytes = 4}),
       ExitFrame{.rank = 0, .wait_status = 1 << 8}});
  Add(1, 0.0, {});
  followers_[1]->Vanish();
  const trial::RanksRun run = Run(TwoStages(1));
  EXPECT_EQ(run.result.outcome, TrialOutcome::kOom);
  ASSERT_TRUE(run.result.oom.has_value());
  EXPECT_EQ(run.result.oom->rank, 0);
}

// While that a peer is gone follows from the loss.
TEST_F(RemoteRankTest, ALossExplainsThatOthersLostTheirPeer) {
  Add(0, 0.0,
      {EventOf(0, trial::ErrorEvent{.kind = trial::ErrorKind::kCommunication, .message = "gone"}),
       ExitFrame{.rank = 0, .wait_status = 1 << 8}});
  Add(1, 0.0, {});
  followers_[1]->Vanish();
  const trial::RanksRun run = Run(TwoStages(1));
  EXPECT_EQ(run.cause_rank, 1);
  EXPECT_THAT(run.result.message, HasSubstr("agent b was lost"));
}

TEST_F(RemoteRankTest, OneThatIsSilentIsLost) {
  grace_s_ = 0.1;
  Add(0, 0.0, {});
  SkippableClock clock;
  timing_.clock = clock.clock();
  TlsPair pair = MakeTlsPair();  // nobody answers there
  auto remote =
      std::make_shared<RemoteMember>(Member{.agent = "b", .first_rank = 1, .ranks = 1},
                                     Link(std::move(pair.listener), timing_.clock), timing_);
  ranks_.push_back({.rank = 1, .process = std::make_unique<RemoteRank>(remote, 1)});
  clock.Skip(timing_.silence_s + 1.0);
  const trial::RanksRun run = Run(TwoStages(1));
  EXPECT_EQ(run.cause_rank, 1);
  EXPECT_THAT(run.result.message, HasSubstr("nothing was heard from it for 30 s"));
}

TEST_F(RemoteRankTest, HowARemoteProcessEndedIsToldAsOfOneHere) {
  grace_s_ = 0.1;
  Add(0, 0.0, {});
  Add(1, 0.0, {ExitFrame{.rank = 1, .wait_status = 6, .output_tail = "assertion failed"}});
  const trial::RanksRun run = Run(TwoStages(1));
  EXPECT_EQ(run.result.outcome, TrialOutcome::kFailed);
  EXPECT_THAT(run.result.message, HasSubstr("was killed by signal 6"));
  EXPECT_THAT(run.result.message, HasSubstr("assertion failed"));
}

TEST_F(RemoteRankTest, AProcessThatCantBeEndedThereIsTold) {
  grace_s_ = 0.1;
  Add(0, 0.0, {ExitFrame{.rank = 0, .wait_status = 1 << 8}});
  Add(1, 0.0, {}, {ExitFrame{.rank = 1, .left_pid = 4321}});
  const trial::RanksRun run = Run(TwoStages(1));
  EXPECT_EQ(run.result.outcome, TrialOutcome::kFailed);
  EXPECT_THAT(run.result.message,
              HasSubstr("the process of rank 1 (pid 4321) could not be killed"));
}

TEST_F(RemoteRankTest, WhatASilentRankPrintedIsTold) {
  Add(0, 0.0, {EventOf(0, trial::BeginEvent{.step = 0})}, {ExitFrame{.rank = 0, .wait_status = 9}});
  Add(1, 0.0, {}, {ExitFrame{.rank = 1, .wait_status = 9, .output_tail = "waiting for a disk"}});
  trial::TrialPlan plan = TwoStages(1);
  plan.timeout_s = 0.5;
  const trial::RanksRun run = Run(plan);
  EXPECT_EQ(run.result.outcome, TrialOutcome::kTimeout);
  EXPECT_EQ(run.cause_rank, 1);
  EXPECT_THAT(run.result.message, HasSubstr("waiting for a disk"));
}

}  // namespace
}  // namespace meshwright::gang
