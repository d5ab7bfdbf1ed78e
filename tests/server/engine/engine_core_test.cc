// Decisions that need no store: what the core answers to one input.
#include "server/engine/engine_core.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/server/engine/engine_records.h"

namespace meshwright::server {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class EngineCoreTest : public testing::Test {
 protected:
  EngineOutput Tell(EngineEvent event) {
    return core_.Handle({db::At(0) + now_, {now_}, std::move(event)});
  }
  EngineOutput AddSweep(int64_t id, int32_t trials) {
    return Tell(SweepStored{SweepOf(id, 4), SomeHeads(trials), {}});
  }
  EngineOutput Connect(const std::string& name, ConnectionId connection) {
    return Tell(AgentConnected{CpuAgent(name, 4), connection, {}});
  }
  static int Assignments(const EngineOutput& output) {
    int count = 0;
    for (const Send& send : output.sends) count += std::holds_alternative<AssignOrder>(send.order);
    return count;
  }
  static TrialFinished Finished(const agent::AttemptKey& key, double step_s) {
    auto digested = std::make_shared<DigestedResult>();
    digested->result.outcome = trial::TrialOutcome::kOk;
    digested->result.step_s = step_s;
    digested->measured.step_s = step_s;
    return {"a", key, digested};
  }

  absl::Duration now_;
  EngineCore core_{EngineOptions()};
};

TEST_F(EngineCoreTest, AnAssignmentIsSentOnceItIsStored) {
  AddSweep(1, 1);
  const EngineOutput output = Connect("a", 7);
  ASSERT_THAT(output.sends_at_once, SizeIs(1));
  EXPECT_TRUE(std::holds_alternative<WelcomeOrder>(output.sends_at_once[0].order));
  ASSERT_EQ(Assignments(output), 1);
  EXPECT_EQ(output.sends[0].connection, 7);
  const auto& assigned = std::get<db::TrialTransition>(output.ops.at(0));
  EXPECT_EQ(assigned.to_state, db::TrialState::kAssigned);
  EXPECT_EQ(assigned.agent, "a");
}

TEST_F(EngineCoreTest, NothingIsDecidedWhileTheStoreIsDown) {
  AddSweep(1, 2);
  Connect("a", 1);
  Tell(StoreFailed());
  const EngineOutput finished = Tell(Finished({"s1", 1, 1}, 0.5));
  EXPECT_EQ(finished.verdict->kind, FinishVerdict::Kind::kRetry);
  EXPECT_THAT(finished.ops, IsEmpty());
  now_ += absl::Seconds(100);
  EXPECT_THAT(Tell(Tick()).ops, IsEmpty());
  EXPECT_EQ(Assignments(Connect("b", 2)), 0);
  EXPECT_TRUE(absl::IsUnavailable(Tell(CancelRequested{"s1"}).status));
  // b is idle and gets the trial that nobody has; the one that a had keeps its attempt.
  EXPECT_EQ(Assignments(Tell(StoreBack())), 1);
  now_ += absl::Seconds(29);
  EXPECT_THAT(Tell(HeartbeatCame{"b", {{"s1", 2, 1}}}).ops, IsEmpty());
  EXPECT_THAT(Tell(Tick()).ops, IsEmpty());
  now_ += absl::Seconds(1);
  const EngineOutput lapsed = Tell(Tick());
  ASSERT_THAT(lapsed.ops, SizeIs(1));
  EXPECT_THAT(std::get<db::TrialTransition>(lapsed.ops[0]).reason, HasSubstr("agent a vanished"));
}

TEST_F(EngineCoreTest, WhatIsToBeBeatenIsTheShortestStepOfTheSweep) {
  AddSweep(1, 3);
  Connect("a", 1);
  Tell(Finished({"s1", 1, 1}, 0.5));
  const EngineOutput output = Tell(Finished({"s1", 2, 1}, 0.7));
  ASSERT_EQ(Assignments(output), 1);
  EXPECT_EQ(std::get<AssignOrder>(output.sends.back().order).beat_step_s, 0.5);
}

TEST_F(EngineCoreTest, AResultOfASweepThatHasEndedIsLeftToTheStore) {
  AddSweep(1, 1);
  Connect("a", 1);
  EXPECT_EQ(Tell(Finished({"s1", 1, 1}, 0.5)).verdict->kind, FinishVerdict::Kind::kStored);
  EXPECT_TRUE(core_.sweeps().empty());
  const EngineOutput again = Tell(Finished({"s1", 1, 1}, 0.5));
  EXPECT_TRUE(again.result_is_late);
  EXPECT_FALSE(again.verdict.has_value());
}

TEST_F(EngineCoreTest, AnIdleTickDecidesNothing) {
  AddSweep(1, 10'000);
  now_ += absl::Seconds(1);
  const EngineOutput output = Tell(Tick());
  EXPECT_THAT(output.ops, IsEmpty());
  EXPECT_THAT(output.sends, IsEmpty());
}

}  // namespace
}  // namespace meshwright::server
