// Gangs that come to nothing before a worker is started.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "executor/gang/link.h"
#include "executor/trial/worker_version.h"
#include "tests/executor/gang/gang_fixture.h"
#include "tests/executor/gang/tls_pair.h"

namespace meshwright::gang {
namespace {

using testing::HasSubstr;
using trial::Fault;
using trial::TrialOutcome;
using trial::TrialResult;

// Nobody starts it.
constexpr char kNoWorker[] = "/nowhere/meshwright-worker";

trial::TrialRunnerOptions Options(int64_t room_bytes = int64_t{1} << 40) {
  trial::TrialRunnerOptions options{.worker_path = kNoWorker, .progress = {}};
  options.available_memory = [room_bytes] {
    return host::MemoryRoom{.bytes = room_bytes, .limit = "of a test"};
  };
  return options;
}

trial::TrialPlan Plan() {
  trial::TrialPlan plan = trial::TinyPlan({.pp = 4});
  plan.estimated_bytes = std::vector<int64_t>(4, int64_t{1} << 20);
  return plan;
}

Timing ImpatientTiming() {
  Timing timing = ShortTiming();
  timing.join_s = 0.5;
  return timing;
}

// Returns timeouts of which only that of joining passes when the clock skips it.
Timing TimingOn(const SkippableClock& clock) {
  Timing timing = ShortTiming();
  timing.silence_s = 10.0 * timing.join_s;
  timing.clock = clock.clock();
  return timing;
}

// A follower played by the test that has connected to the listener as `member`.
Link Come(const Membership& membership, const std::string& version) {
  TlsSocket socket = DialTls(membership.rendezvous, membership.secret);
  EXPECT_EQ(Finish(socket), absl::OkStatus());
  Link link(std::move(socket), MonotonicNow);
  link.Send(JoinFrame{.member = membership.member, .version = version});
  return link;
}

TEST(JoiningTest, OnesWhoNeverComeAreNamed) {
  const std::vector<Membership> memberships = MembershipsOf({2, 1, 1});
  const TrialResult result = LeadOnThread(Plan(), memberships[0], Options(), ImpatientTiming());
  EXPECT_EQ(result.outcome, TrialOutcome::kFailed);
  EXPECT_EQ(result.fault, Fault::kNetwork);
  EXPECT_EQ(result.failed_agent, "b");
  EXPECT_EQ(result.message, "agent b (rank 2) and agent c (rank 3) did not join at " +
                                memberships[0].listener->rendezvous() + " within 0.5 s");
}

TEST(JoiningTest, ThoseThatCameDoNotTakeTheBlame) {
  const std::vector<Membership> memberships = MembershipsOf({2, 1, 1});
  SkippableClock clock;
  const Timing timing = TimingOn(clock);
  std::vector<Frame> told;
  std::thread follower([&] {
    Link link = Come(memberships[1], std::string(trial::WorkerVersion()));
    EXPECT_TRUE(Eventually([&] { return !link.Receive().empty(); }));
    clock.Skip(timing.join_s);
    EXPECT_TRUE(Eventually([&] {
      for (Frame& frame : link.Receive()) told.push_back(std::move(frame));
      return !link.status().ok();
    }));
  });
  const TrialResult result = LeadOnThread(Plan(), memberships[0], Options(), timing);
  follower.join();
  EXPECT_EQ(result.failed_agent, "c");
  ASSERT_FALSE(told.empty());
  EXPECT_TRUE(std::holds_alternative<EndFrame>(told.back()));
}

TEST(JoiningTest, AFollowerWithoutALeaderSaysWhereItWas) {
  std::vector<Membership> memberships = MembershipsOf({2, 2});
  memberships[0].listener.reset();
  FollowerThread follower(Plan(), memberships[1], Options());
  const TrialResult& result = follower.Wait();
  EXPECT_EQ(result.outcome, TrialOutcome::kFailed);
  EXPECT_EQ(result.fault, Fault::kNetwork);
  EXPECT_THAT(result.message, HasSubstr("agent b can't reach agent a, which leads, at " +
                                        memberships[1].rendezvous));
}

TEST(JoiningTest, ALeaderThatDoesNotAnswerIsGivenUp) {
  const std::vector<Membership> memberships = MembershipsOf({2, 2});
  FollowerThread follower(Plan(), memberships[1], Options(), ImpatientTiming());
  EXPECT_THAT(follower.Wait().message, HasSubstr("the other end does not answer"));
  EXPECT_EQ(follower.Wait().fault, Fault::kNetwork);
}

TEST(JoiningTest, AFollowerOfAnotherSecretIsNotLetIn) {
  std::vector<Membership> memberships = MembershipsOf({2, 2});
  memberships[1].secret = "the secret of another attempt";
  FollowerThread follower(Plan(), memberships[1], Options());
  const TrialResult led = LeadOnThread(Plan(), memberships[0], Options(), ImpatientTiming());
  EXPECT_EQ(led.failed_agent, "b");
  EXPECT_THAT(led.message, HasSubstr("did not join"));
  EXPECT_EQ(follower.Wait().outcome, TrialOutcome::kFailed);
  EXPECT_THAT(follower.Wait().message, HasSubstr("does not know the secret"));
}

TEST(JoiningTest, WorkersOfAnotherVersionAreRefused) {
  const std::vector<Membership> memberships = MembershipsOf({2, 2});
  std::string told;
  std::thread follower([&] {
    Link link = Come(memberships[1], "9.8.7");
    EXPECT_TRUE(Eventually([&] {
      for (const Frame& frame : link.Receive()) {
        if (const auto* refuse = std::get_if<RefuseFrame>(&frame)) told = refuse->message;
      }
      return !told.empty();
    }));
  });
  const TrialResult result = LeadOnThread(Plan(), memberships[0], Options());
  follower.join();
  EXPECT_EQ(result.outcome, TrialOutcome::kFailed);
  EXPECT_EQ(result.fault, Fault::kInfrastructure);
  EXPECT_EQ(result.failed_agent, "b");
  EXPECT_THAT(result.message, HasSubstr("the workers of agent b are of version 9.8.7"));
  EXPECT_THAT(result.message, HasSubstr(std::string(trial::WorkerVersion())));
  EXPECT_EQ(told, result.message);
}

TEST(JoiningTest, AMemberJoinsOnce) {
  const std::vector<Membership> memberships = MembershipsOf({1, 1, 2});
  const std::string version(trial::WorkerVersion());
  SkippableClock clock;
  const Timing timing = TimingOn(clock);
  std::string told;
  std::thread followers([&] {
    Link first = Come(memberships[1], version);
    EXPECT_TRUE(Eventually([&] { return !first.Receive().empty(); }));
    Link second = Come(memberships[1], version);
    EXPECT_TRUE(Eventually([&] {
      first.Receive();
      for (const Frame& frame : second.Receive()) {
        if (const auto* refuse = std::get_if<RefuseFrame>(&frame)) told = refuse->message;
      }
      return !told.empty();
    }));
    clock.Skip(timing.join_s);
    // Keeps the first in until the leader gives up.
    EXPECT_TRUE(Eventually([&] {
      first.Receive();
      return !first.status().ok();
    }));
  });
  const TrialResult result = LeadOnThread(Plan(), memberships[0], Options(), timing);
  followers.join();
  EXPECT_EQ(result.failed_agent, "c");
  EXPECT_EQ(told, "agent b (rank 1) has joined before");
}

TEST(JoiningTest, OneThatGoesAgainWhileOthersAreAwaitedEndsTheTrial) {
  const std::vector<Membership> memberships = MembershipsOf({1, 1, 2});
  std::thread follower([&] {
    Link link = Come(memberships[1], std::string(trial::WorkerVersion()));
    EXPECT_TRUE(Eventually([&] { return !link.Receive().empty(); }));
  });
  const TrialResult result = LeadOnThread(Plan(), memberships[0], Options());
  follower.join();
  EXPECT_EQ(result.failed_agent, "b");
  EXPECT_EQ(result.fault, Fault::kNetwork);
  EXPECT_THAT(result.message, HasSubstr("agent b was lost"));
}

TEST(JoiningTest, RanksThatDoNotFitAFollowersMemoryAreNotStarted) {
  const std::vector<Membership> memberships = MembershipsOf({2, 2});
  FollowerThread follower(Plan(), memberships[1], Options(/*room_bytes=*/1000));
  const TrialResult result = LeadOnThread(Plan(), memberships[0], Options());
  EXPECT_EQ(result.outcome, TrialOutcome::kFailed);
  EXPECT_EQ(result.fault, Fault::kLayout);
  EXPECT_EQ(result.failed_agent, "b");
  EXPECT_EQ(result.message, CheckMemory(Plan(), {2, 3}, Options(1000)).message());
  EXPECT_EQ(follower.Wait().outcome, TrialOutcome::kFailed);
  EXPECT_EQ(follower.Wait().message, result.message);
}

TEST(JoiningTest, RanksThatDoNotFitTheLeadersMemoryAreNotStarted) {
  const std::vector<Membership> memberships = MembershipsOf({2, 2});
  FollowerThread follower(Plan(), memberships[1], Options());
  const TrialResult result = LeadOnThread(Plan(), memberships[0], Options(/*room_bytes=*/1000));
  EXPECT_EQ(result.fault, Fault::kLayout);
  EXPECT_EQ(result.failed_agent, "");
  follower.End();
}

TEST(JoiningTest, ALeaderThatIsCancelledWaitsNoLonger) {
  const std::vector<Membership> memberships = MembershipsOf({2, 2});
  const std::atomic<bool> cancel = true;
  trial::TrialRunnerOptions options = Options();
  options.cancel = &cancel;
  EXPECT_EQ(LeadOnThread(Plan(), memberships[0], options).outcome, TrialOutcome::kCancelled);
}

TEST(JoiningTest, AFollowerThatIsCancelledWaitsNoLonger) {
  const std::vector<Membership> memberships = MembershipsOf({2, 2});
  FollowerThread follower(Plan(), memberships[1], Options());
  EXPECT_EQ(follower.End().outcome, TrialOutcome::kCancelled);
}

TEST(JoiningTest, AWorkerThatCantBeStartedOnTheLeaderEndsAll) {
  const std::vector<Membership> memberships = MembershipsOf({2, 2});
  FollowerThread follower(Plan(), memberships[1], Options());
  const TrialResult result = LeadOnThread(Plan(), memberships[0], Options());
  EXPECT_EQ(result.fault, Fault::kInfrastructure);
  EXPECT_EQ(result.failed_agent, "");
  EXPECT_THAT(result.message, HasSubstr("/nowhere/meshwright-worker can't be started"));
  EXPECT_FALSE(follower.returned());
}

TEST(JoiningTest, AMembershipThatIsInvalidIsAFailure) {
  std::vector<Membership> memberships = MembershipsOf({2, 1});
  const TrialResult result = LeadOnThread(Plan(), memberships[0], Options());
  EXPECT_EQ(result.outcome, TrialOutcome::kFailed);
  EXPECT_THAT(result.message, HasSubstr("must have all 4 ranks"));
}

}  // namespace
}  // namespace meshwright::gang
