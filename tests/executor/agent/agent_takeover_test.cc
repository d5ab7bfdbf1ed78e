// An agent with several servers, of which one takes over from another.
#include <algorithm>
#include <filesystem>

#include "executor/agent/result_box.h"
#include "gmock/gmock.h"
#include "tests/executor/agent/agent_session_fixture.h"

namespace meshwright::agent {
namespace {

using ::testing::ElementsAre;

constexpr double kLease = 30.0;

trial::TrialResult OkAtOnce(const trial::TrialPlan&, const trial::TrialRunnerOptions&) {
  trial::TrialResult result;
  result.outcome = trial::TrialOutcome::kOk;
  result.step_s = 0.5;
  return result;
}

class AgentTakeoverTest : public AgentSessionTest {
 protected:
  void SetUp() override {
    AgentSessionTest::SetUp();
    other_servers_ = {other_.address()};
    epochs_file_ = folder_ + "-epochs";
    std::filesystem::remove(epochs_file_);
  }
  void TearDown() override {
    stop_.store(true);
    other_.EndStream();
    AgentSessionTest::TearDown();
    std::filesystem::remove(epochs_file_);
  }
  // The agent loses the first server and registers at the other one.
  v1::Register MoveToOther(int64_t epoch) {
    server_.EndStream();
    // It tries the server that worked once more.
    server_.Next(v1::AgentMessage::kRegister);
    server_.EndStream();
    return other_.Register(kStore, wire::kAgentProtocol, kLease, epoch);
  }

  FakeServer other_;
};

TEST_F(AgentTakeoverTest, GoesToTheNextAddressAndTellsWhatItHolds) {
  StartAgent();
  EXPECT_EQ(server_.Register(kStore).known_epochs_size(), 0);
  server_.Assign("sweeps/s/trials/1", SomePlan());
  AwaitBegun();
  const v1::Register moved = MoveToOther(2);
  ASSERT_EQ(moved.held_size(), 1);
  EXPECT_EQ(moved.held(0).trial(), "sweeps/s/trials/1");
  ASSERT_EQ(moved.known_epochs_size(), 1);
  EXPECT_EQ(moved.known_epochs(0).store_id(), kStore);
  EXPECT_EQ(moved.known_epochs(0).epoch(), 1);
  EXPECT_EQ(moved.known_epochs(0).address(), server_.address());
  // It stays there.
  other_.Next(v1::AgentMessage::kHeartbeat);
  other_.EndStream();
  EXPECT_EQ(other_.Register(kStore, wire::kAgentProtocol, kLease, 2).known_epochs(0).epoch(), 2);
}

TEST_F(AgentTakeoverTest, LeavesAServerOfAnEarlierEpochAndKeepsItsTrial) {
  StartAgent();
  server_.Register(kStore);
  server_.Assign("sweeps/s/trials/1", SomePlan());
  AwaitBegun();
  MoveToOther(2);
  other_.EndStream();
  other_.Next(v1::AgentMessage::kRegister);
  other_.EndStream();
  // The first server is back, and does not know.
  EXPECT_EQ(server_.Register(kStore, wire::kAgentProtocol, kLease, 1).known_epochs(0).epoch(), 2);
  const v1::Register again = other_.Register(kStore, wire::kAgentProtocol, kLease, 2);
  ASSERT_EQ(again.held_size(), 1);
  EXPECT_EQ(again.held(0).trial(), "sweeps/s/trials/1");
}

TEST_F(AgentTakeoverTest, ALaterProcessRefusesTheEarlierEpochToo) {
  StartAgent();
  server_.Register(kStore, wire::kAgentProtocol, kLease, 3);
  server_.Next(v1::AgentMessage::kHeartbeat);
  stop_.store(true);
  EXPECT_TRUE(Wait().ok());
  stop_.store(false);
  StartAgent();
  server_.Register(kStore, wire::kAgentProtocol, kLease, 2);
  other_.Register(kStore, wire::kAgentProtocol, kLease, 3);
  other_.Next(v1::AgentMessage::kHeartbeat);
}

TEST_F(AgentTakeoverTest, DeliversAgainWhatTheServerBeforeAcknowledgedAndAskedToKeep) {
  StartAgent(OkAtOnce);
  server_.Register(kStore);
  for (const std::string trial : {"sweeps/s/trials/1", "sweeps/s/trials/2"}) {
    server_.Assign(trial, SomePlan());
    const v1::TrialFinished finished = server_.Next(v1::AgentMessage::kFinished).finished();
    server_.Acknowledge(finished.ref(), trial == "sweeps/s/trials/2" ? 600.0 : 0.0);
  }
  server_.Next(v1::AgentMessage::kHeartbeat);
  server_.Next(v1::AgentMessage::kHeartbeat);
  const v1::Register moved = MoveToOther(2);
  ASSERT_EQ(moved.kept_size(), 1);
  EXPECT_EQ(moved.kept(0).ref().trial(), "sweeps/s/trials/2");
  EXPECT_EQ(moved.kept(0).acknowledged_epoch(), 1);
  const v1::TrialFinished again = other_.Next(v1::AgentMessage::kFinished).finished();
  EXPECT_EQ(again.ref().trial(), "sweeps/s/trials/2");
  EXPECT_EQ(again.token(), "token of sweeps/s/trials/2");
  EXPECT_EQ(again.measurement().step_s(), 0.5);
  other_.Acknowledge(again.ref());
}

class AcknowledgedTest : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = testing::TempDir() + "/acknowledged-" + std::to_string(getpid());
    std::filesystem::remove_all(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  static KeptResult Result(int32_t trial) {
    KeptResult kept{.store_id = kStore, .key = {"s", trial, 1}};
    kept.result.outcome = trial::TrialOutcome::kOk;
    return kept;
  }
  static std::vector<int32_t> Trials(const std::vector<KeptResult>& results) {
    std::vector<int32_t> trials;
    for (const KeptResult& result : results) trials.push_back(result.key.trial);
    std::sort(trials.begin(), trials.end());
    return trials;
  }
  std::string folder_;
};

TEST_F(AcknowledgedTest, IsKeptForALaterEpochUntilItsTimeHasCome) {
  ResultBox box = *ResultBox::Open(folder_);
  const MonotonicTime start = MonotonicNow();
  for (int32_t trial = 1; trial <= 4; ++trial) ASSERT_TRUE(box.Add(Result(trial)).ok());
  box.Acknowledge(kStore, {"s", 1, 1}, 1, start + absl::Seconds(1));
  box.Acknowledge(kStore, {"s", 2, 1}, 1, start + absl::Seconds(9));
  box.Acknowledge(kStore, {"s", 3, 1}, 2, start + absl::Seconds(9));
  box.Forget(start + absl::Seconds(1));
  EXPECT_THAT(Trials(box.kept()), ElementsAre(4));
  EXPECT_THAT(Trials(box.acknowledged()), ElementsAre(2, 3));
  ResultBox later = *ResultBox::Open(folder_);
  EXPECT_THAT(Trials(later.kept()), ElementsAre(4));
  EXPECT_THAT(Trials(later.acknowledged()), ElementsAre(2, 3));
  later.KeepAgain(kOtherStore, 9);
  later.KeepAgain(kStore, 1);
  EXPECT_THAT(Trials(later.kept()), ElementsAre(4));
  later.KeepAgain(kStore, 2);
  EXPECT_THAT(Trials(later.kept()), ElementsAre(2, 4));
  EXPECT_THAT(Trials(later.acknowledged()), ElementsAre(3));
  later.ForgetAfter(start);
  later.Forget(start);
  EXPECT_THAT(Trials(later.acknowledged()), ElementsAre());
  EXPECT_THAT(Trials(ResultBox::Open(folder_)->kept()), ElementsAre(2, 4));
}

}  // namespace
}  // namespace meshwright::agent
