// Every way in which the trial of a gang can end, with real workers.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>

#include <algorithm>
#include <cerrno>
#include <string>
#include <vector>

#include "tests/executor/gang/gang_fixture.h"
#include "tests/executor/gang/recording_proxy.h"
#include "tests/executor/gang/tls_pair.h"
#include "tests/executor/trial/leaves_nothing_test.h"
#include "tests/executor/trial/runners_workers.h"

namespace meshwright::gang {
namespace {

using testing::HasSubstr;
using trial::Fault;
using trial::InjectedFault;
using trial::TinyPlan;
using trial::TrialOutcome;
using trial::TrialPlan;
using trial::TrialResult;

trial::TrialRunnerOptions Options() { return {.worker_path = trial::WorkerPath(), .progress = {}}; }

using GangOutcomesTest = trial::LeavesNothingTest;

TEST_F(GangOutcomesTest, OkReportsEveryStepRankAndTrace) {
  TrialPlan plan = TinyPlan({.pp = 2, .dp = 2}, 4);
  plan.trace = true;
  const std::vector<Membership> memberships = MembershipsOf({3, 1});
  FollowerThread follower(plan, memberships[1], Options());
  trial::TrialRunnerOptions options = Options();
  int told = 0;
  size_t traces = 0;
  options.progress = [&](const trial::TrialProgress& progress) { told = progress.step; };
  options.trace = [&](const std::vector<trial::RankTrace>& ranks) { traces = ranks.size(); };
  const TrialResult result = LeadOnThread(plan, memberships[0], options);
  ASSERT_EQ(result.outcome, TrialOutcome::kOk) << result.message;
  EXPECT_EQ(told, 4);
  EXPECT_EQ(traces, 4u);
  EXPECT_EQ(result.step_times_s.size(), 4u);
  EXPECT_GT(result.measured_peak_flops, 1e8);
  ASSERT_EQ(result.ranks.size(), 4u);
  for (int32_t rank = 0; rank < 4; ++rank) {
    EXPECT_EQ(result.ranks[static_cast<size_t>(rank)].rank, rank);
    EXPECT_EQ(result.ranks[static_cast<size_t>(rank)].pipeline_rank, rank / 2);
  }
  // Its workers are gone, and it waits.
  EXPECT_TRUE(Eventually([] { return trial::WorkersOf(::getpid()) == 0; }));
  EXPECT_FALSE(follower.returned());
  EXPECT_EQ(follower.End().outcome, TrialOutcome::kCancelled);
}

TEST_F(GangOutcomesTest, OutOfMemoryOnAFollowersRankIsToldAsOnOneHost) {
  TrialPlan plan = TinyPlan(planner::ParseLayout("tp1.pp2.dp1.stages=1+3").value());
  const TrialResult measured = trial::RunHere(plan);
  ASSERT_EQ(measured.outcome, TrialOutcome::kOk) << measured.message;
  ASSERT_GT(measured.ranks[1].peak_bytes, measured.ranks[0].peak_bytes);
  plan.memory_limit_bytes = measured.ranks[1].peak_bytes - 1;
  const TrialResult alone = trial::RunHere(plan);
  const TrialResult together = RunGang(plan, {1, 1}, trial::WorkerPath());
  EXPECT_EQ(together.outcome, TrialOutcome::kOom) << together.message;
  EXPECT_EQ(together.oom, alone.oom);
  EXPECT_EQ(together.oom->rank, 1);
  EXPECT_EQ(together.fault, alone.fault);
  EXPECT_EQ(together.message, alone.message);
  EXPECT_EQ(together.failed_agent, "");
}

TEST_F(GangOutcomesTest, ACrashOfAFollowersWorkerNamesRankSignalStepAndAgent) {
  const InjectedFault crash{.kind = InjectedFault::Effect::kCrash, .rank = 3, .step = 1};
  const trial::ScopedTestHooks hooks({.fault = crash});
  const TrialResult result = RunGang(TinyPlan({.dp = 4}, 3), {2, 2}, trial::TestWorkerPath());
  EXPECT_EQ(result.outcome, TrialOutcome::kFailed);
  EXPECT_THAT(result.message, HasSubstr("rank 3 (pipeline rank 0) was killed by signal 6"));
  EXPECT_THAT(result.message, HasSubstr("before step 1"));
  EXPECT_EQ(result.failed_agent, "b");
  EXPECT_EQ(result.step_times_s.size(), 1u);
}

TEST_F(GangOutcomesTest, ACrashOfTheLeadersWorkerNamesNoOther) {
  const InjectedFault crash{.kind = InjectedFault::Effect::kCrash, .rank = 0, .step = 1};
  const trial::ScopedTestHooks hooks({.fault = crash});
  const TrialResult result = RunGang(TinyPlan({.dp = 4}, 3), {2, 2}, trial::TestWorkerPath());
  EXPECT_THAT(result.message, HasSubstr("rank 0 (pipeline rank 0) was killed by signal 6"));
  EXPECT_EQ(result.failed_agent, "");
}

TEST_F(GangOutcomesTest, AHangIsATimeoutThatNamesTheRank) {
  TrialPlan plan = TinyPlan({.dp = 4}, 3);
  plan.timeout_s = 4.0;
  const InjectedFault hang{.kind = InjectedFault::Effect::kHang, .rank = 2, .step = 1};
  const trial::ScopedTestHooks hooks({.fault = hang});
  const TrialResult result = RunGang(plan, {2, 2}, trial::TestWorkerPath());
  EXPECT_EQ(result.outcome, TrialOutcome::kTimeout);
  EXPECT_THAT(result.message, HasSubstr("rank 2"));
  EXPECT_THAT(result.message, HasSubstr("step 0"));
  EXPECT_EQ(result.failed_agent, "b");
}

TEST_F(GangOutcomesTest, CancellingTheLeaderEndsAll) {
  const TrialPlan plan = TinyPlan({.dp = 4}, 100'000);
  const std::vector<Membership> memberships = MembershipsOf({2, 2});
  FollowerThread follower(plan, memberships[1], Options());
  std::atomic<bool> cancel = false;
  trial::TrialRunnerOptions options = Options();
  options.progress = [&](const trial::TrialProgress&) { cancel = true; };
  options.cancel = &cancel;
  const TrialResult result = LeadOnThread(plan, memberships[0], options);
  EXPECT_EQ(result.outcome, TrialOutcome::kCancelled);
  EXPECT_THAT(result.message, HasSubstr("of 100000 steps"));
  EXPECT_EQ(result.failed_agent, "");
  EXPECT_TRUE(Eventually([] { return trial::WorkersOf(::getpid()) == 0; }));
  EXPECT_FALSE(follower.returned());
}

TEST_F(GangOutcomesTest, CancellingAFollowerEndsAll) {
  const TrialPlan plan = TinyPlan({.dp = 4}, 100'000);
  const std::vector<Membership> memberships = MembershipsOf({2, 2});
  FollowerThread follower(plan, memberships[1], Options());
  std::thread ender;
  trial::TrialRunnerOptions options = Options();
  options.progress = [&](const trial::TrialProgress&) {
    if (!ender.joinable()) ender = std::thread([&] { follower.End(); });
  };
  const TrialResult result = LeadOnThread(plan, memberships[0], options);
  ender.join();
  // Nobody has failed.
  EXPECT_EQ(result.outcome, TrialOutcome::kCancelled);
  EXPECT_EQ(result.fault, Fault::kNone);
  EXPECT_THAT(result.message, HasSubstr("agent b was told to end"));
  EXPECT_EQ(follower.Wait().outcome, TrialOutcome::kCancelled);
}

TEST_F(GangOutcomesTest, AWorkerThatCantBeStartedOnAFollowerEndsAll) {
  const std::vector<Membership> memberships = MembershipsOf({2, 2});
  FollowerThread follower(TinyPlan({.dp = 4}), memberships[1],
                          {.worker_path = "/nowhere/meshwright-worker", .progress = {}});
  const TrialResult result = LeadOnThread(TinyPlan({.dp = 4}), memberships[0], Options());
  EXPECT_EQ(result.outcome, TrialOutcome::kFailed);
  EXPECT_EQ(result.fault, Fault::kInfrastructure);
  EXPECT_EQ(result.failed_agent, "b");
  EXPECT_THAT(result.message,
              HasSubstr("agent b: the worker /nowhere/meshwright-worker can't be started"));
  EXPECT_EQ(follower.Wait().outcome, TrialOutcome::kFailed);
}

// Runs a member in a process of its own, which can be killed as a host can.
class MemberProcess {
 public:
  MemberProcess(const TrialPlan& plan, const Membership& membership) : pid_(::fork()) {
    if (pid_ != 0) return;
    const std::atomic<bool> never = false;
    trial::TrialRunnerOptions options = Options();
    options.cancel = &never;
    RunMember(plan, membership, options, ShortTiming());
    std::_Exit(0);
  }
  ~MemberProcess() { Kill(); }

  pid_t pid() const { return pid_; }
  void Kill() {
    if (pid_ <= 0) return;
    ::kill(pid_, SIGKILL);
    ::waitpid(std::exchange(pid_, -1), nullptr, 0);
  }

 private:
  pid_t pid_;
};

TEST_F(GangOutcomesTest, AFollowerThatVanishesEndsAll) {
  const TrialPlan plan = TinyPlan({.dp = 4}, 100'000);
  const std::vector<Membership> memberships = MembershipsOf({2, 2});
  MemberProcess follower(plan, memberships[1]);
  const pid_t pid = follower.pid();
  trial::TrialRunnerOptions options = Options();
  options.progress = [&](const trial::TrialProgress&) { follower.Kill(); };
  const TrialResult result = LeadOnThread(plan, memberships[0], options);
  EXPECT_EQ(result.outcome, TrialOutcome::kFailed);
  EXPECT_EQ(result.fault, Fault::kNetwork);
  EXPECT_EQ(result.failed_agent, "b");
  EXPECT_THAT(result.message, HasSubstr("agent b was lost"));
  EXPECT_TRUE(Eventually([&] { return trial::WorkersOf(pid) == 0; }));
}

TEST_F(GangOutcomesTest, ALeaderThatVanishesEndsTheWorkersOfItsFollowers) {
  const TrialPlan plan = TinyPlan({.dp = 4}, 100'000);
  std::vector<Membership> memberships = MembershipsOf({2, 2});
  MemberProcess leader(plan, memberships[0]);
  const pid_t pid = leader.pid();
  memberships[0].listener.reset();
  FollowerThread follower(plan, memberships[1], Options());
  ASSERT_TRUE(Eventually([] { return trial::WorkersOf(::getpid()) == 2; }));
  leader.Kill();
  EXPECT_TRUE(Eventually([] { return trial::WorkersOf(::getpid()) == 0; }));
  EXPECT_TRUE(Eventually([&] { return trial::WorkersOf(pid) == 0; }));
  EXPECT_FALSE(follower.returned());
  EXPECT_EQ(follower.End().outcome, TrialOutcome::kCancelled);
}

TEST_F(GangOutcomesTest, StrangersAtTheListenerDoNotDisturbARun) {
  const TrialPlan plan = TinyPlan({.dp = 4}, 6);
  const std::vector<Membership> memberships = MembershipsOf({2, 2});
  const SocketAddress leader_address = ResolveHostPort(memberships[1].rendezvous).value();
  std::atomic<bool> over = false;
  std::thread strangers([&] {
    std::vector<UniqueFd> silent;
    while (!over) {
      auto stranger = TlsSocket::Dial(leader_address, "the secret of another attempt",
                                      Purpose::kTunnel, MonotonicNow() + absl::Seconds(1));
      while (stranger.ok() && stranger->ShakeHands(MonotonicNow()).ok()) {
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
      }
      absl::StatusOr<UniqueFd> socket = Dial(leader_address);
      if (!socket.ok()) continue;
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
      const std::string garbage(1000, '\xa5');
      ::send(socket->get(), garbage.data(), garbage.size(), MSG_NOSIGNAL);
      if (silent.size() < 20) silent.push_back(*std::move(socket));
    }
  });
  FollowerThread follower(plan, memberships[1], Options());
  const TrialResult result = LeadOnThread(plan, memberships[0], Options());
  over = true;
  strangers.join();
  EXPECT_EQ(result.outcome, TrialOutcome::kOk) << result.message;
  EXPECT_EQ(result.losses, trial::RunHere(plan).losses);
}

// Returns the length of the longest readable text in `bytes`.
size_t LongestText(const std::string& bytes) {
  size_t longest = 0;
  size_t length = 0;
  for (const char byte : bytes) {
    length = byte >= ' ' && byte <= '~' ? length + 1 : 0;
    longest = std::max(longest, length);
  }
  return longest;
}

// Everything but the collectives' own traffic passes the proxy: events, orders and the store.
TEST_F(GangOutcomesTest, ACaptureBetweenTheMembersShowsNoPlainText) {
  // Random bytes have a longer text once in a million runs.
  constexpr size_t kMostByChance = 24;
  const std::vector<Membership> memberships = MembershipsOf({2, 2});
  RecordingProxy proxy(memberships[1].rendezvous);
  Membership follower_membership = memberships[1];
  follower_membership.rendezvous = proxy.rendezvous();
  const TrialPlan plan = TinyPlan({.pp = 2, .dp = 2}, 3);
  TrialResult result;
  {
    FollowerThread follower(plan, follower_membership, Options());
    result = LeadOnThread(plan, memberships[0], Options());
  }
  ASSERT_EQ(result.outcome, TrialOutcome::kOk) << result.message;
  ASSERT_EQ(result.step_times_s.size(), 3u);
  const std::string capture = proxy.sent() + proxy.answered();
  // Thousands of bytes of events came this way, and tunnels to the store did.
  EXPECT_GT(capture.size(), 10'000u);
  EXPECT_THAT(capture, HasSubstr("meshwright gang 2 link"));
  EXPECT_THAT(capture, HasSubstr("meshwright gang 2 tunnel"));
  EXPECT_LE(LongestText(capture), kMostByChance);
  EXPECT_GT(LongestText(EncodeFrame(EventFrame{.line = "{\"event\":\"begin\",\"step\":0}"})),
            kMostByChance);
}

}  // namespace
}  // namespace meshwright::gang
