// Which results the engine takes.
#include <limits>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "planner/catalog/catalog.h"
#include "tests/server/sweeps/sweep_engine_fixture.h"

namespace meshwright::server {
namespace {

using SweepEngineResultsTest = SweepEngineTest;
using ::testing::HasSubstr;

TEST_F(SweepEngineResultsTest, ALateResultOfATrialThatIsPendingAgainCounts) {
  Create("s", 1);
  engine_->Disconnect("a", Connect("a").get());
  now_ += absl::Seconds(7);
  engine_->Tick();
  EXPECT_EQ(Trial(1).state, db::TrialState::kPending);
  EXPECT_EQ(engine_->Finish("a", {"s", 1, 1}, OkResult(0.3)).kind, FinishVerdict::Outcome::kStored);
  EXPECT_EQ(Trial(1).measured->mfu, 0.3);
  EXPECT_EQ(Trial(1).attempt, 1);
  EXPECT_EQ(store_->GetSweep("s")->state, db::SweepState::kFinished);
  EXPECT_EQ(store_->ListAttempts(1, 1)->front().outcome, "ok");
  // Delivered once more it is the same result.
  EXPECT_EQ(engine_->Finish("a", {"s", 1, 1}, OkResult(0.9)).kind, FinishVerdict::Outcome::kStored);
  EXPECT_EQ(Trial(1).measured->mfu, 0.3);
}

TEST_F(SweepEngineResultsTest, ALateResultStopsTheRunUnderWay) {
  Create("s", 1);
  LoseToB();
  Create("t", 1);
  const wire::AttemptKey second{"s", 1, 2};
  ASSERT_EQ(b_->assigned, std::vector<wire::AttemptKey>{second});
  EXPECT_EQ(engine_->Finish("a", {"s", 1, 1}, OkResult(0.3)).kind, FinishVerdict::Outcome::kStored);
  EXPECT_EQ(b_->cancelled, std::vector<wire::AttemptKey>{second});
  EXPECT_EQ(Trial(1).agent, "a");
  EXPECT_EQ(Trial(1).host, "host-a");
  EXPECT_EQ(store_->ListAttempts(1, 1)->back().outcome, "cancelled");
  // Until it has stopped it gets nothing else.
  EXPECT_EQ(b_->assigned.size(), 1u);
  trial::TrialResult stopped;
  stopped.outcome = trial::TrialOutcome::kCancelled;
  EXPECT_EQ(engine_->Finish("b", second, stopped).kind, FinishVerdict::Outcome::kRefused);
  EXPECT_EQ(b_->assigned.back(), (wire::AttemptKey{"t", 1, 1}));
  EXPECT_EQ(Trial(1).measured->mfu, 0.3);
}

TEST_F(SweepEngineResultsTest, AResultOfAnAttemptThatWasNeverGivenOutIsRefused) {
  Create("s", 1);
  Connect("a");
  const FinishVerdict verdict = engine_->Finish("a", {"s", 1, 7}, OkResult(0.3));
  EXPECT_EQ(verdict.kind, FinishVerdict::Outcome::kRefused);
  EXPECT_THAT(verdict.reason, HasSubstr("attempt 7 was never given out"));
  EXPECT_EQ(Trial(1).state, db::TrialState::kAssigned);
}

TEST_F(SweepEngineResultsTest, ALateResultOfATrialThatLostItsAgentsCountsWhileTheSweepRuns) {
  Create("s", 2);
  for (int i = 0; i < 3; ++i) {
    engine_->Disconnect("a", Connect("a").get());
    now_ += absl::Seconds(31);
    engine_->Tick();
  }
  EXPECT_EQ(Trial(1).state, db::TrialState::kFailed);
  EXPECT_EQ(engine_->Finish("a", {"s", 1, 2}, OkResult(0.3)).kind, FinishVerdict::Outcome::kStored);
  EXPECT_EQ(Trial(1).state, db::TrialState::kOk);
  EXPECT_EQ(store_->GetSweep("s")->state, db::SweepState::kRunning);
}

TEST_F(SweepEngineResultsTest, AResultAfterTheEndOfTheSweepIsRefused) {
  Create("s", 1);
  Connect("a");
  ASSERT_TRUE(engine_->Cancel("s").ok());
  const FinishVerdict verdict = engine_->Finish("a", {"s", 1, 1}, OkResult(0.3));
  EXPECT_EQ(verdict.kind, FinishVerdict::Outcome::kRefused);
  EXPECT_THAT(verdict.reason, HasSubstr("the sweep is cancelled"));
}

TEST_F(SweepEngineResultsTest, AResultThatCantBeRightFailsItsTrial) {
  Create("s", 3);
  const auto link = Connect("a");
  trial::TrialResult result = OkResult(0.3);
  result.step_times_s = {0.5, std::numeric_limits<double>::quiet_NaN()};
  const FinishVerdict verdict = engine_->Finish("a", {"s", 1, 1}, result);
  // For good: the agent forgets it.
  EXPECT_EQ(verdict.kind, FinishVerdict::Outcome::kRefused);
  EXPECT_EQ(verdict.code, absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(verdict.reason, HasSubstr("step_times_s[1] = nan"));
  EXPECT_EQ(Trial(1).state, db::TrialState::kFailed);
  EXPECT_THAT(Trial(1).reason, HasSubstr("step_times_s[1] = nan: must be finite"));
  result = OkResult(0.3);
  result.step_s = -1.0;
  engine_->Finish("a", {"s", 2, 1}, result);
  EXPECT_THAT(Trial(2).reason, HasSubstr("step_s = -1"));
  result = OkResult(0.3);
  result.ranks.resize(5);
  engine_->Finish("a", {"s", 3, 1}, result);
  EXPECT_THAT(Trial(3).reason, HasSubstr("number of ranks = 5"));
  // What is stored can be read.
  EXPECT_TRUE(
      trial::TrialResultFromJson(nlohmann::json::parse(Trial(1).measured->result_json)).ok());
}

trial::TrialPlan SomePlan() {
  trial::TrialPlan plan;
  plan.model = *planner::FindModel("tinystories-15m");
  plan.layout = *planner::ParseLayout("tp1.pp1.dp1");
  plan.training = {.seq_len = 64, .global_batch = 8, .precision = planner::Precision::kFp32};
  plan.peak_flops = 1e12;
  return plan;
}

TEST_F(SweepEngineResultsTest, WhatMfuFollowFromIsReadOnceForASweep) {
  std::vector<db::TrialRecord> trials = db::SomeTrials(2);
  trials[0].plan_json = ToJson(SomePlan()).dump();
  ASSERT_TRUE(engine_->Create({db::SomeSweep("s"), trials}).ok());
  Connect("a");
  engine_->Finish("a", {"s", 1, 1}, OkResult(0.9));
  // The other one's plan can't be read.
  engine_->Finish("a", {"s", 2, 1}, OkResult(0.9));
  ASSERT_TRUE(Trial(1).measured->mfu.has_value());
  EXPECT_LT(*Trial(1).measured->mfu, 0.9);
  EXPECT_EQ(Trial(2).measured->mfu, Trial(1).measured->mfu);
}

// The step can be, and the MFU that follows from it can't.
TEST_F(SweepEngineResultsTest, AnMfuThatIsNotFiniteFailsTheTrial) {
  Create("s", 1);
  db::SweepRecord sweep = db::SomeSweep("t");
  std::vector<db::TrialRecord> trials = db::SomeTrials(1);
  trials[0].plan_json = ToJson(SomePlan()).dump();
  ASSERT_TRUE(engine_->Cancel("s").ok());
  const db::SweepRecord made = *engine_->Create({sweep, trials});
  Connect("a");
  trial::TrialResult result = OkResult(0.3);
  result.step_s = 1e-310;
  EXPECT_EQ(engine_->Finish("a", {"t", 1, 1}, result).kind, FinishVerdict::Outcome::kRefused);
  const db::TrialRecord trial = *store_->GetTrial(made.id, 1);
  EXPECT_EQ(trial.state, db::TrialState::kFailed);
  EXPECT_THAT(trial.reason, HasSubstr("must be finite"));
  EXPECT_TRUE(trial::TrialResultFromJson(nlohmann::json::parse(trial.measured->result_json)).ok());
}

TEST_F(SweepEngineResultsTest, AResultOfADeletedSweepIsNoneOfItsNamesakes) {
  Create("s", 1);
  LoseToB();  // attempt 2 runs on b
  ASSERT_EQ(engine_->Finish("a", {"s", 1, 1}, OkResult(0.3)).kind, FinishVerdict::Outcome::kStored);
  ASSERT_TRUE(engine_->Delete("s", /*force=*/true).ok());
  const db::SweepRecord again = Create("s", 1);
  EXPECT_EQ(store_->GetTrial(again.id, 1)->attempt, 3);
  EXPECT_EQ(engine_->Finish("b", {"s", 1, 2}, OkResult(0.4)).kind,
            FinishVerdict::Outcome::kRefused);
}

TEST_F(SweepEngineResultsTest, NoAgentStopsWhatAnotherRuns) {
  Create("s", 1);
  const auto a = Connect("a");
  Connect("b");
  ASSERT_EQ(a->assigned.size(), 1u);
  trial::TrialResult stopped;
  stopped.outcome = trial::TrialOutcome::kCancelled;
  EXPECT_EQ(engine_->Finish("b", {"s", 1, 1}, stopped).kind, FinishVerdict::Outcome::kRefused);
  engine_->Hear(TrialStarted{"b", {"s", 1, 1}});
  EXPECT_EQ(Trial(1).state, db::TrialState::kAssigned);
  EXPECT_EQ(Trial(1).agent, "a");
}

TEST_F(SweepEngineResultsTest, NoAgentGivesTheResultOfWhatAnotherRuns) {
  Create("s", 1);
  const auto a = Connect("a");
  Connect("b");
  ASSERT_EQ(a->assigned.size(), 1u);
  const FinishVerdict verdict = engine_->Finish("b", {"s", 1, 1}, OkResult(0.3));
  EXPECT_EQ(verdict.kind, FinishVerdict::Outcome::kRefused);
  EXPECT_EQ(verdict.reason, "attempt 1 was given to agent a");
  EXPECT_EQ(Trial(1).state, db::TrialState::kAssigned);
  EXPECT_EQ(engine_->Finish("a", {"s", 1, 1}, OkResult(0.3)).kind, FinishVerdict::Outcome::kStored);
}

TEST_F(SweepEngineResultsTest, AResultHasToBringItsAssignmentsToken) {
  Create("s", 2);
  const auto a = Connect("a");
  const auto b = Connect("b");
  ASSERT_EQ(a->tokens.size(), 1u);
  ASSERT_EQ(b->tokens.size(), 1u);
  EXPECT_NE(a->tokens[0], b->tokens[0]);
  const wire::AttemptKey key{"s", 1, 1};
  FinishVerdict verdict = engine_->FinishWith("", "a", key, OkResult(0.3));
  EXPECT_EQ(verdict.kind, FinishVerdict::Outcome::kRefused);
  EXPECT_EQ(verdict.code, absl::StatusCode::kUnauthenticated);
  EXPECT_THAT(verdict.reason, HasSubstr("the result of attempt 1 has no token"));
  verdict = engine_->FinishWith(b->tokens[0], "a", key, OkResult(0.3));
  EXPECT_EQ(verdict.code, absl::StatusCode::kPermissionDenied);
  EXPECT_THAT(verdict.reason, HasSubstr("is not the one that attempt 1 was given out with"));
  EXPECT_EQ(Trial(1).state, db::TrialState::kAssigned);
  EXPECT_EQ(engine_->FinishWith(a->tokens[0], "a", key, OkResult(0.3)).kind,
            FinishVerdict::Outcome::kStored);
  // A sweep that has ended asks for it too.
  engine_->FinishWith(b->tokens[0], "b", {"s", 2, 1}, OkResult(0.3));
  ASSERT_EQ(store_->GetSweep("s")->state, db::SweepState::kFinished);
  EXPECT_EQ(engine_->FinishWith("", "a", key, OkResult(0.3)).code,
            absl::StatusCode::kUnauthenticated);
}

TEST_F(SweepEngineResultsTest, EveryTokenOfATrialCountsUntilItHasAResultOverARestartToo) {
  Create("s", 1);
  const auto a = Connect("a");
  const auto b = Connect("b");
  engine_->Disconnect("a", a.get());
  now_ += absl::Seconds(7);
  engine_->Hear(HeartbeatCame{"b", {}});
  engine_->Tick();
  ASSERT_EQ(b->assigned, (std::vector<wire::AttemptKey>{{"s", 1, 2}}));
  EXPECT_NE(a->tokens[0], b->tokens[0]);
  StartEngine();
  EXPECT_EQ(engine_->FinishWith(a->tokens[0], "a", {"s", 1, 1}, OkResult(0.3)).kind,
            FinishVerdict::Outcome::kStored);
  EXPECT_EQ(engine_->FinishWith(b->tokens[0], "b", {"s", 1, 2}, OkResult(0.4)).code,
            absl::StatusCode::kAlreadyExists);
}

TEST_F(SweepEngineResultsTest, ATokenOfADeletedSweepIsNoneOfItsNamesakes) {
  Create("s", 1);
  const auto a = Connect("a");
  ASSERT_TRUE(engine_->Delete("s", /*force=*/true).ok());
  Create("s", 1);
  EXPECT_EQ(engine_->FinishWith(a->tokens[0], "a", {"s", 1, 2}, OkResult(0.3)).code,
            absl::StatusCode::kPermissionDenied);
}

TEST_F(SweepEngineResultsTest, MoreMemoryThanARankMayHoldIsRefused) {
  db::SweepRecord sweep = db::SomeSweep("s");
  sweep.memory_limit_bytes = 299;
  ASSERT_TRUE(engine_->Create({sweep, db::SomeTrials(1)}).ok());
  Connect("a");
  const FinishVerdict verdict = engine_->Finish("a", {"s", 1, 1}, OkResult(0.3));
  EXPECT_EQ(verdict.code, absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(verdict.reason, HasSubstr("ranks[1].peak_bytes = 300: must be at most 299"));
  EXPECT_EQ(Trial(1).state, db::TrialState::kFailed);
}

TEST_F(SweepEngineResultsTest, TextThatIsNoUtf8IsStoredWithoutTheBadBytes) {
  Create("s", 1);
  Connect("a");
  trial::TrialResult result;
  result.outcome = trial::TrialOutcome::kFailed;
  result.message = "rank 0 crashed \xE2\x82\n\xFFtail";
  EXPECT_EQ(engine_->Finish("a", {"s", 1, 1}, result).kind, FinishVerdict::Outcome::kStored);
  EXPECT_EQ(Trial(1).reason, "rank 0 crashed \xEF\xBF\xBD");
}

}  // namespace
}  // namespace meshwright::server
