// What the engine says of work that waits, and how agents are released without losing any of it.
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "server/engine/engine_core.h"
#include "tests/server/engine/engine_records.h"

namespace meshwright::server {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class DemandTest : public testing::Test {
 protected:
  EngineOutput Tell(EngineEvent event) {
    return core_.Handle({db::At(0) + now_, {now_}, std::move(event)});
  }
  EngineOutput AddSweep(int64_t id, int32_t trials, int64_t devices = 4) {
    return Tell(SweepStored{SweepOf(id, devices), SomeSummaries(trials), {}});
  }
  EngineOutput Connect(const std::string& name, ConnectionId connection,
                       const std::vector<wire::AttemptKey>& held = {}) {
    return Tell(AgentConnected{GangAgent(name, 4), connection, held});
  }
  EngineOutput Finish(const std::string& agent, const wire::AttemptKey& key,
                      trial::Fault fault = trial::Fault::kNone) {
    auto digested = std::make_shared<DigestedResult>();
    digested->result.outcome =
        fault == trial::Fault::kNone ? trial::TrialOutcome::kOk : trial::TrialOutcome::kFailed;
    digested->result.fault = fault;
    return Tell(TrialFinished{agent, key, digested});
  }
  absl::Status Release(const std::string& agent, absl::Duration idle_for = absl::Seconds(10)) {
    return Tell(ReleaseRequested{{agent}, idle_for}).status;
  }
  static int Assignments(const EngineOutput& output) {
    int count = 0;
    for (const Send& send : output.sends) count += std::holds_alternative<AssignOrder>(send.order);
    return count;
  }
  int64_t Waiting() const {
    int64_t waiting = 0;
    for (const SweepDemand& sweep : core_.Demand().sweeps) waiting += sweep.waiting_trials;
    return waiting;
  }

  absl::Duration now_;
  EngineCore core_{EngineOptions()};
};

TEST_F(DemandTest, TrialsWaitUntilAnAgentHasThem) {
  EXPECT_THAT(core_.Demand().sweeps, IsEmpty());
  AddSweep(1, 3);
  AddSweep(2, 1, 8);
  const EngineDemand demand = core_.Demand();
  ASSERT_THAT(demand.sweeps, SizeIs(2));
  EXPECT_EQ(demand.sweeps[0].sweep, "s1");
  EXPECT_EQ(demand.sweeps[0].devices, 4);
  EXPECT_EQ(demand.sweeps[0].device_kind, "cpu");
  EXPECT_EQ(demand.sweeps[0].waiting_trials, 3);
  EXPECT_EQ(demand.sweeps[1].waiting_trials, 1);
  Connect("a", 1);
  EXPECT_EQ(core_.Demand().sweeps[0].waiting_trials, 2);
  EXPECT_TRUE(core_.Demand().agents.at(0).busy);
}

TEST_F(DemandTest, CandidatesWaitUpToTheTrialsThatASweepTakes) {
  db::SweepRecord sweep = SweepOf(1, 4);
  sweep.max_trials = 2;
  Tell(SweepStored{sweep,
                   {OpenSummary(1, "tp1.pp1.dp4.mb1", 1.0), OpenSummary(2, "tp2.pp1.dp2.mb1", 1.1),
                    OpenSummary(3, "tp4.pp1.dp1.mb1", 1.2)},
                   {}});
  EXPECT_EQ(Waiting(), 2);
}

TEST_F(DemandTest, AnAgentIsIdleFromTheMomentAtWhichItHoldsNothing) {
  now_ = absl::Seconds(3);
  Connect("a", 1);
  EXPECT_EQ(core_.Demand().agents.at(0).idle_since, Second(3));
  AddSweep(1, 1);
  now_ = absl::Seconds(7);
  Finish("a", {"s1", 1, 1});
  now_ = absl::Seconds(9);
  Tell(HeartbeatCame{"a", {}});
  EXPECT_FALSE(core_.Demand().agents.at(0).busy);
  EXPECT_EQ(core_.Demand().agents.at(0).idle_since, Second(7));
}

TEST_F(DemandTest, OnlyAnAgentThatHasBeenIdleIsReleasedAndGetsNothingFromThenOn) {
  Connect("a", 1);
  now_ = absl::Seconds(9);
  EXPECT_TRUE(absl::IsFailedPrecondition(Release("a")));
  now_ = absl::Seconds(10);
  EXPECT_TRUE(Release("a").ok());
  EXPECT_TRUE(Release("a").ok()) << "once more";
  EXPECT_EQ(Assignments(AddSweep(1, 1)), 0);
  EXPECT_THAT(core_.FindSweep("s1")->reason, HasSubstr("a, which was idle, is about to end"));
  EXPECT_FALSE(core_.Demand().agents.at(0).takes_trials);
  EXPECT_THAT(core_.Demand().closed, IsEmpty()) << "no quarantine of it changed";
}

// Its work came between the look at it and the release.
TEST_F(DemandTest, AnAgentThatGotATrialIsNotReleased) {
  Connect("a", 1);
  now_ = absl::Hours(1);
  Tell(HeartbeatCame{"a", {}});
  ASSERT_EQ(Assignments(AddSweep(1, 1)), 1);
  EXPECT_TRUE(absl::IsFailedPrecondition(Release("a")));
  Tell(AgentDisconnected{"a", 1});
  EXPECT_TRUE(absl::IsFailedPrecondition(Release("a"))) << "it may come back with its trial";
}

TEST_F(DemandTest, AnAgentThatIsKeptForALargeTrialIsNotReleased) {
  AddSweep(1, 1, 4);
  Connect("a", 1);
  Connect("b", 2);
  AddSweep(2, 1, 8);
  now_ = absl::Seconds(9);
  Tell(HeartbeatCame{"a", {{"s1", 1, 1}}});
  Tell(HeartbeatCame{"b", {}});
  EXPECT_THAT(std::string(Release("b", absl::Seconds(1)).message()), HasSubstr("kept for a trial"));
}

TEST_F(DemandTest, AgentsOfOneJobAreReleasedTogetherOrNotAtAll) {
  Connect("a", 1);
  Connect("b", 2);
  now_ = absl::Seconds(20);
  Tell(HeartbeatCame{"a", {}});
  Tell(HeartbeatCame{"b", {}});
  AddSweep(1, 1);  // a runs it
  EXPECT_TRUE(
      absl::IsFailedPrecondition(Tell(ReleaseRequested{{"b", "a"}, absl::Seconds(10)}).status));
  AddSweep(2, 1);
  EXPECT_EQ(Waiting(), 0) << "b was not released, and runs it";
  Finish("a", {"s1", 1, 1});
  Finish("b", {"s2", 1, 1});
  now_ = absl::Seconds(40);
  Tell(HeartbeatCame{"a", {}});
  Tell(HeartbeatCame{"b", {}});
  EXPECT_TRUE(Tell(ReleaseRequested{{"b", "a"}, absl::Seconds(10)}).status.ok());
  AddSweep(3, 1);
  EXPECT_EQ(Waiting(), 1);
}

TEST_F(DemandTest, AReleaseHoldsOverAConnectionThatBrokeUntilTheNameIsAdmitted) {
  Connect("a", 1);
  now_ = absl::Seconds(20);
  Tell(HeartbeatCame{"a", {}});
  EXPECT_TRUE(Release("a").ok());
  Tell(AgentDisconnected{"a", 1});
  AddSweep(1, 1);
  EXPECT_EQ(Assignments(Connect("a", 2)), 0);
  EXPECT_TRUE(absl::IsFailedPrecondition(Tell(AdmitRequested{"a"}).status)) << "it is still there";
  Tell(AgentLeft{"a", 2, "SIGTERM"});
  EXPECT_TRUE(Tell(AdmitRequested{"a"}).status.ok());
  EXPECT_EQ(Assignments(Connect("a", 3)), 1);
}

TEST_F(DemandTest, ANameIsReleasedBeforeItsAgentIsThere) {
  EXPECT_TRUE(Release("a").ok());
  AddSweep(1, 1);
  EXPECT_EQ(Assignments(Connect("a", 1)), 0);
}

TEST_F(DemandTest, NobodyIsReleasedWhileTheStoreIsDown) {
  Connect("a", 1);
  now_ = absl::Seconds(20);
  Tell(StoreFailed());
  EXPECT_TRUE(absl::IsUnavailable(Release("a")));
}

TEST_F(DemandTest, NamesThatWereDrainedAreClosedWithoutTheirAgent) {
  Connect("a", 1);
  Tell(DrainRequested{"a"});
  Tell(AgentLeft{"a", 1, "SIGTERM"});
  EXPECT_THAT(core_.Demand().closed, ElementsAre("a"));
  Tell(ResumeRequested{"a"});
  EXPECT_THAT(core_.Demand().closed, IsEmpty());
}

TEST_F(DemandTest, AnAgentOnWhichEveryWaitingTrialFailedIsUnfit) {
  Connect("a", 1);
  Connect("b", 2);
  AddSweep(1, 1);
  Finish("a", {"s1", 1, 1}, trial::Fault::kInfrastructure);
  ASSERT_EQ(Waiting(), 0) << "b has it";
  Tell(AgentLeft{"b", 2, "SIGTERM"});
  ASSERT_THAT(core_.Demand().sweeps, SizeIs(1));
  EXPECT_THAT(core_.Demand().sweeps[0].unfit, ElementsAre("a"));
}

// A launcher's nodes wait in its queue, and then their agents come.
TEST_F(DemandTest, ASweepSaysWhatItsNodesWaitForAndItsFirstTrialHowLongThatTook) {
  AddSweep(1, 2);
  now_ = absl::Seconds(10);
  EXPECT_THAT(Tell(NodesQueued{"cpu", "1 node is in the queue"}).ops, SizeIs(1));
  EXPECT_EQ(core_.FindSweep("s1")->reason,
            "needs 4, connected 0 (cpu devices); 1 node is in the queue");
  EXPECT_THAT(Tell(NodesQueued{"cpu", "1 node is in the queue"}).ops, IsEmpty()) << "no news";
  Tell(NodesQueued{"cpu", ""});
  EXPECT_EQ(core_.FindSweep("s1")->reason, "needs 4, connected 0 (cpu devices)");
  now_ = absl::Seconds(130);
  const auto reason_of = [](const EngineOutput& output) {
    for (const Send& send : output.sends) {
      if (const auto* order = std::get_if<AssignOrder>(&send.order)) return order->reason;
    }
    return std::string();
  };
  EXPECT_THAT(reason_of(Connect("a", 1)),
              HasSubstr("; the sweep waited 120 s for nodes in the queue"));
  EXPECT_THAT(reason_of(Connect("b", 2)), testing::Not(HasSubstr("waited")));
}

TEST_F(DemandTest, NodesOfAnotherKindDoNotMatterToASweep) {
  AddSweep(1, 1);
  EXPECT_THAT(Tell(NodesQueued{"cuda", "1 node is in the queue"}).ops, IsEmpty());
  now_ = absl::Seconds(30);
  Connect("a", 1);
  EXPECT_EQ(core_.FindSweep("s1")->reason, "its trials run");
}

}  // namespace
}  // namespace meshwright::server
