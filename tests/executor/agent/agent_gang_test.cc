// An agent that gets some of a trial's ranks, as a server sees it.
#include "gmock/gmock.h"
#include "tests/executor/agent/agent_session_fixture.h"

namespace meshwright::agent {
namespace {

using ::testing::HasSubstr;

constexpr char kTrial[] = "sweeps/s/trials/1";

class AgentGangTest : public AgentSessionTest {
 protected:
  void Start() {
    StartAgent(UntilCancelled,
               [this](const trial::TrialPlan& plan, const gang::Membership& membership,
                      const trial::TrialRunnerOptions& options) {
                 memberships_.Push(membership);
                 return UntilCancelled(plan, options);
               });
    EXPECT_EQ(server_.Register(kStore).address(), "127.0.0.1");
  }
  v1::TrialReady Ready() { return server_.Next(v1::AgentMessage::kReady).ready(); }
  v1::TrialFinished Finished() { return server_.Next(v1::AgentMessage::kFinished).finished(); }

  static std::string MetAt(const v1::TrialReady& ready) {
    return "127.0.0.1:" + std::to_string(ready.port());
  }

  Inbox<gang::Membership> memberships_;  // of what ran
};

TEST_F(AgentGangTest, OneThatLeadsOpensAListenerAndWaitsForTheStart) {
  Start();
  server_.AssignOneOfTwo(kTrial, SomePlan(2), /*member=*/0);
  const v1::TrialReady ready = Ready();
  EXPECT_EQ(ready.ref().trial(), kTrial);
  EXPECT_GT(ready.port(), 0);
  EXPECT_FALSE(memberships_.Pop(absl::Milliseconds(100)).has_value());
  server_.Start(kTrial, MetAt(ready));
  const std::optional<gang::Membership> membership = memberships_.Pop(absl::Seconds(20));
  ASSERT_TRUE(membership.has_value());
  EXPECT_EQ(membership->member, 0);
  ASSERT_NE(membership->listener, nullptr);
  EXPECT_EQ(membership->listener->rendezvous(), MetAt(ready));
  EXPECT_EQ(membership->secret, "secret of sweeps/s/trials/1");
  EXPECT_EQ(server_.Next(v1::AgentMessage::kStarted).started().ref().trial(), kTrial);
}

TEST_F(AgentGangTest, OneThatFollowsIsToldWhereTheOtherIs) {
  Start();
  server_.AssignOneOfTwo(kTrial, SomePlan(2), /*member=*/1);
  Ready();
  server_.Start(kTrial, "10.0.0.1:4711");
  const std::optional<gang::Membership> membership = memberships_.Pop(absl::Seconds(20));
  ASSERT_TRUE(membership.has_value());
  EXPECT_EQ(membership->rendezvous, "10.0.0.1:4711");
  EXPECT_EQ(membership->members[1], (gang::Member{"b", 1, 1}));
  EXPECT_EQ(membership->listener, nullptr);
  // It ends once it is told to, and is free.
  server_.Cancel(kTrial);
  EXPECT_EQ(Finished().measurement().outcome(), v1::OUTCOME_CANCELLED);
}

TEST_F(AgentGangTest, OneThatIsCancelledBeforeTheStartNeverRuns) {
  Start();
  server_.AssignOneOfTwo(kTrial, SomePlan(2), /*member=*/1);
  Ready();
  server_.Cancel(kTrial);
  const v1::TrialFinished finished = Finished();
  EXPECT_EQ(finished.measurement().outcome(), v1::OUTCOME_CANCELLED);
  EXPECT_THAT(finished.measurement().message(), HasSubstr("another member failed"));
  server_.Start(kTrial, "10.0.0.1:4711");
  EXPECT_FALSE(memberships_.Pop(absl::Milliseconds(100)).has_value());
}

TEST_F(AgentGangTest, SaysThatItIsReadyAgainOnANewStream) {
  Start();
  server_.AssignOneOfTwo(kTrial, SomePlan(2), /*member=*/0);
  const v1::TrialReady ready = Ready();
  server_.EndStream();
  const v1::Register again = server_.Register(kStore);
  ASSERT_EQ(again.held_size(), 1);
  EXPECT_EQ(Ready().port(), ready.port());
  // And when it runs: the server may be another process, which does not know.
  server_.Start(kTrial, MetAt(ready));
  ASSERT_TRUE(memberships_.Pop(absl::Seconds(20)).has_value());
  server_.EndStream();
  server_.Register(kStore);
  EXPECT_EQ(Ready().port(), ready.port());
  server_.Start(kTrial, MetAt(ready));
  EXPECT_FALSE(memberships_.Pop(absl::Milliseconds(100)).has_value());
}

TEST_F(AgentGangTest, APartThatItHasNoDevicesForIsRefused) {
  Start();
  server_.AssignOneOfTwo(kTrial, SomePlan(4), /*member=*/0);
  const v1::TrialFinished finished = Finished();
  EXPECT_EQ(finished.measurement().outcome(), v1::OUTCOME_FAILED);
  EXPECT_THAT(finished.measurement().message(), HasSubstr("can't run this plan"));
}

}  // namespace
}  // namespace meshwright::agent
