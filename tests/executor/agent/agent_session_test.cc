// What an agent says to a server, which the test plays.
#include <algorithm>
#include <filesystem>
#include <system_error>

#include "gmock/gmock.h"
#include "tests/executor/agent/agent_session_fixture.h"

namespace meshwright::agent {
namespace {

using ::testing::HasSubstr;

TEST_F(AgentSessionTest, AnAssignmentThatCantBeUsedIsAnswered) {
  StartAgent();
  server_.Register(kStore);
  server_.Assign("no trial's name", SomePlan());
  v1::TrialFinished answer = server_.Next(v1::AgentMessage::kFinished).finished();
  EXPECT_EQ(answer.ref().trial(), "no trial's name");
  EXPECT_EQ(answer.measurement().outcome(), v1::OUTCOME_FAILED);
  EXPECT_THAT(answer.measurement().message(), HasSubstr("can't run this plan"));
  server_.Assign("sweeps/s/trials/1", "{");
  answer = server_.Next(v1::AgentMessage::kFinished).finished();
  EXPECT_EQ(answer.ref().trial(), "sweeps/s/trials/1");
  EXPECT_EQ(answer.measurement().outcome(), v1::OUTCOME_FAILED);
}

// What an agent runs is its own: a plan has no key by which a server could name a program or a
// file.
TEST_F(AgentSessionTest, APlanBringsNoProgramAndNoOtherKey) {
  std::atomic<int> ran{0};
  StartAgent([&](const trial::TrialPlan&, const trial::TrialRunnerOptions& options) {
    ++ran;
    trial::TrialResult result;
    result.outcome = trial::TrialOutcome::kOk;
    result.message = options.worker_path;
    return result;
  });
  server_.Register(kStore);
  int trial = 0;
  for (const char* key :
       {"worker_path", "worker", "command", "environment", "dump_gradients_dir"}) {
    nlohmann::json plan = nlohmann::json::parse(SomePlan());
    plan[key] = "/bin/sh";
    server_.Assign("sweeps/s/trials/" + std::to_string(++trial), plan.dump());
    const v1::TrialFinished answer = server_.Next(v1::AgentMessage::kFinished).finished();
    EXPECT_EQ(answer.measurement().outcome(), v1::OUTCOME_FAILED) << key;
    EXPECT_THAT(answer.measurement().message(), HasSubstr(key));
  }
  EXPECT_EQ(ran.load(), 0);
  server_.Assign("sweeps/s/trials/9", SomePlan());
  EXPECT_EQ(server_.Next(v1::AgentMessage::kFinished).finished().measurement().message(),
            "/opt/own-worker");
}

TEST_F(AgentSessionTest, APlanForDevicesThatTheAgentHasNotIsAnswered) {
  StartAgent();
  server_.Register(kStore);
  nlohmann::json plan = nlohmann::json::parse(SomePlan());
  plan["device"] = "cuda";
  server_.Assign("sweeps/s/trials/1", plan.dump());
  EXPECT_THAT(server_.Next(v1::AgentMessage::kFinished).finished().measurement().message(),
              HasSubstr("device = cuda: must be cpu, which the agent has"));
  plan["device"] = "cpu";
  plan["layout"] = "tp2.cp1.pp1.dp1.mb1.vpp1.zero0.sp0.rc=none.sched=1f1b";
  server_.Assign("sweeps/s/trials/2", plan.dump());
  EXPECT_THAT(server_.Next(v1::AgentMessage::kFinished).finished().measurement().message(),
              HasSubstr("the trial needs 2 devices of this agent, and the agent has 1"));
}

TEST_F(AgentSessionTest, RunsTrialsSideBySideOnTheDevicesThatTheServerNames) {
  wire::DeviceSet devices;
  devices.count = 4;
  devices.slots = 2;
  StartAgent(UntilCancelled, {}, devices);
  EXPECT_EQ(server_.Register(kStore).slots(), 2);
  // Of two sizes: what a rank reaches is measured by one of a kind at a time.
  server_.Assign("sweeps/s/trials/1", SomePlan(1), /*first_device=*/2);
  server_.Assign("sweeps/s/trials/2", SomePlan(2), /*first_device=*/0);
  EXPECT_EQ(AwaitBegun() + AwaitBegun(), 2);
  server_.Assign("sweeps/s/trials/3", SomePlan(1), /*first_device=*/1);
  const v1::TrialFinished refused = server_.Next(v1::AgentMessage::kFinished).finished();
  EXPECT_EQ(refused.ref().trial(), "sweeps/s/trials/3");
  EXPECT_THAT(refused.measurement().message(), HasSubstr("first_device = 1: must be a multiple"));
  server_.Cancel("sweeps/s/trials/1");
  EXPECT_EQ(server_.Next(v1::AgentMessage::kFinished).finished().ref().trial(),
            "sweeps/s/trials/1");
}

TEST_F(AgentSessionTest, RunsSweepsWhoseNamesNoNewOneMayHave) {
  StartAgent([](const trial::TrialPlan&, const trial::TrialRunnerOptions&) {
    trial::TrialResult result;
    result.outcome = trial::TrialOutcome::kOk;
    return result;
  });
  server_.Register(kStore);
  server_.Assign("sweeps/../../my model/trials/1", SomePlan());
  const v1::TrialFinished answer = server_.Next(v1::AgentMessage::kFinished).finished();
  EXPECT_EQ(answer.ref().trial(), "sweeps/../../my model/trials/1");
  EXPECT_EQ(answer.measurement().outcome(), v1::OUTCOME_OK);
  // The result is kept where results are.
  EXPECT_EQ(ResultBox::Open(folder_)->kept().size(), 1u);
}

TEST_F(AgentSessionTest, AServerOfAnotherProtocolEndsTheAgentWithAWord) {
  StartAgent();
  EXPECT_EQ(server_.Register(kStore, /*protocol=*/0).protocol(), wire::kAgentProtocol);
  const absl::Status status = Wait();
  EXPECT_TRUE(absl::IsInvalidArgument(status)) << status;
  EXPECT_THAT(std::string(status.message()),
              HasSubstr(" is older than this agent, which speaks protocol 3: start an agent of the "
                        "server's version"));
}

TEST_F(AgentSessionTest, AStoreWhoseIdIsNoneEndsTheAgent) {
  StartAgent();
  server_.Register("../../elsewhere");
  const absl::Status status = Wait();
  EXPECT_TRUE(absl::IsInvalidArgument(status)) << status;
  EXPECT_THAT(std::string(status.message()), HasSubstr("store_id = ../../elsewhere"));
}

TEST_F(AgentSessionTest, SaysOfEveryKeptResultWhichStoreItIsFrom) {
  Keep(kStore, "mine");
  Keep(kOtherStore, "theirs");
  StartAgent();
  const v1::Register message = server_.Register(kOtherStore);
  ASSERT_EQ(message.kept_size(), 2);
  for (const v1::KeptResult& kept : message.kept()) {
    EXPECT_EQ(kept.store_id(), kept.ref().trial() == "sweeps/mine/trials/1" ? kStore : kOtherStore);
  }
  EXPECT_EQ(message.held_size(), 0);
  // Only the store that gave the attempt out gets its result.
  EXPECT_EQ(server_.Next(v1::AgentMessage::kFinished).finished().ref().trial(),
            "sweeps/theirs/trials/1");
  const v1::Heartbeat heartbeat = server_.Next(v1::AgentMessage::kHeartbeat).heartbeat();
  ASSERT_EQ(heartbeat.held_size(), 1);
  EXPECT_EQ(heartbeat.held(0).trial(), "sweeps/theirs/trials/1");
}

TEST_F(AgentSessionTest, AServerWithAnotherStoreEndsWhatRuns) {
  std::atomic<int> runs{0};
  StartAgent([&](const trial::TrialPlan& plan, const trial::TrialRunnerOptions& options) {
    if (++runs == 1) return UntilCancelled(plan, options);
    trial::TrialResult result;
    result.outcome = trial::TrialOutcome::kOk;
    result.step_s = 0.25;
    return result;
  });
  server_.Register(kStore);
  server_.Assign("sweeps/s/trials/1", SomePlan());
  AwaitBegun();
  server_.EndStream();
  server_.Register(kOtherStore);
  EXPECT_EQ(server_.Next(v1::AgentMessage::kHeartbeat).heartbeat().held_size(), 0);
  // The same name means another trial now, and its result is the first that this server hears of.
  server_.Assign("sweeps/s/trials/1", SomePlan());
  const v1::TrialFinished answer = server_.Next(v1::AgentMessage::kFinished).finished();
  EXPECT_EQ(answer.measurement().outcome(), v1::OUTCOME_OK);
  EXPECT_EQ(answer.measurement().step_s(), 0.25);
}

TEST_F(AgentSessionTest, AResultBringsItsAssignmentsToken) {
  StartAgent([](const trial::TrialPlan&, const trial::TrialRunnerOptions&) {
    trial::TrialResult result;
    result.outcome = trial::TrialOutcome::kOk;
    return result;
  });
  server_.Register(kStore);
  server_.Assign("sweeps/s/trials/1", SomePlan());
  EXPECT_EQ(server_.Next(v1::AgentMessage::kFinished).finished().token(),
            "token of sweeps/s/trials/1");
  // So does one that an agent can't run, and one that is kept over a restart.
  server_.Assign("sweeps/s/trials/2", "{");
  EXPECT_EQ(server_.Next(v1::AgentMessage::kFinished).finished().token(),
            "token of sweeps/s/trials/2");
  const ResultBox kept = *ResultBox::Open(folder_);
  ASSERT_EQ(kept.kept().size(), 2u);
  for (const KeptResult& result : kept.kept()) {
    EXPECT_EQ(result.token, "token of sweeps/s/trials/" + std::to_string(result.key.trial));
  }
}

// A later agent delivers it if this one is killed before its workers have ended.
TEST_F(AgentSessionTest, WhatAllRanksHaveMeasuredIsOnTheDiskBeforeTheyEnd) {
  std::atomic<bool> ends{false};
  StartAgent([&](const trial::TrialPlan&, const trial::TrialRunnerOptions& options) {
    trial::TrialResult result;
    result.outcome = trial::TrialOutcome::kOk;
    result.step_s = 0.25;
    options.measured(result);
    while (!ends.load() && !options.cancel->load()) absl::SleepFor(absl::Milliseconds(1));
    return options.cancel->load() ? UntilCancelled({}, options) : result;
  });
  server_.Register(kStore);
  const auto kept = [&] { return ResultBox::Open(folder_)->kept(); };
  // Opening the folder while the agent writes would remove what it has begun.
  const auto await_kept = [&](ptrdiff_t results) {
    const auto files = [&] {
      std::error_code error;
      return std::count_if(std::filesystem::directory_iterator(folder_, error),
                           std::filesystem::directory_iterator(),
                           [](const auto& entry) { return entry.path().extension() == ".json"; });
    };
    for (int i = 0; i < 2000 && files() != results; ++i) absl::SleepFor(absl::Milliseconds(5));
    return files() == results;
  };
  server_.Assign("sweeps/s/trials/1", SomePlan());
  ASSERT_TRUE(await_kept(1));
  EXPECT_EQ(kept()[0].result.step_s, 0.25);
  EXPECT_EQ(kept()[0].token, "token of sweeps/s/trials/1");
  ends.store(true);
  EXPECT_EQ(server_.Next(v1::AgentMessage::kFinished).finished().ref().trial(),
            "sweeps/s/trials/1");
  EXPECT_EQ(kept().size(), 1u);
  // One that is cancelled after all, as the agent leaves, has no result.
  ends.store(false);
  server_.Assign("sweeps/s/trials/2", SomePlan());
  ASSERT_TRUE(await_kept(2));
  Stop().IgnoreError();
  EXPECT_EQ(kept().size(), 1u);
}

// The connection stands, and nothing comes over it.
TEST_F(AgentSessionTest, EndsWhatRunsOnceItsLeaseIsOverWhileConnected) {
  StartAgent();
  server_.Register(kStore, wire::kAgentProtocol, /*lease_s=*/1.0);
  server_.Assign("sweeps/s/trials/1", SomePlan());
  server_.Next(v1::AgentMessage::kStarted);
  const absl::Time begin = absl::Now();
  // Each that is acknowledged gives it a lease from when it was sent.
  while (absl::Now() < begin + absl::Seconds(2)) {
    const v1::Heartbeat heartbeat = server_.Next(v1::AgentMessage::kHeartbeat).heartbeat();
    EXPECT_EQ(heartbeat.held_size(), 1);
    server_.AcknowledgeHeartbeat(heartbeat.number());
  }
  EXPECT_EQ(server_.Next(v1::AgentMessage::kFinished).finished().measurement().outcome(),
            v1::OUTCOME_CANCELLED);
  const absl::Duration after = absl::Now() - begin;
  EXPECT_GT(after, absl::Seconds(2.5));
  EXPECT_LT(after, absl::Seconds(10));
}

TEST_F(AgentSessionTest, StoppingCancelsWhatRunsAndLeavesWithin5s) {
  std::atomic<bool> cancelled{false};
  StartAgent([&](const trial::TrialPlan& plan, const trial::TrialRunnerOptions& options) {
    trial::TrialResult result = UntilCancelled(plan, options);
    cancelled.store(true);
    return result;
  });
  server_.Register(kStore);
  server_.Assign("sweeps/s/trials/1", SomePlan());
  AwaitBegun();
  const absl::Time begin = absl::Now();
  stop_.store(true);
  EXPECT_THAT(server_.Next(v1::AgentMessage::kGoodbye).goodbye().reason(), HasSubstr("stopped"));
  EXPECT_TRUE(cancelled.load());
  server_.EndStream();
  EXPECT_TRUE(Wait().ok());
  EXPECT_LT(absl::Now() - begin, absl::Seconds(5));
}

TEST_F(AgentSessionTest, StoppingDeliversWhatWasMeasuredBeforeItLeaves) {
  StartAgent([](const trial::TrialPlan& plan, const trial::TrialRunnerOptions& options) {
    UntilCancelled(plan, options);
    // It was done before it heard of its end.
    trial::TrialResult result;
    result.outcome = trial::TrialOutcome::kOk;
    result.step_s = 0.25;
    return result;
  });
  server_.Register(kStore);
  server_.Assign("sweeps/s/trials/1", SomePlan());
  AwaitBegun();
  stop_.store(true);
  const v1::TrialFinished finished = server_.Next(v1::AgentMessage::kFinished).finished();
  EXPECT_EQ(finished.measurement().step_s(), 0.25);
  server_.Acknowledge(finished.ref());
  server_.Next(v1::AgentMessage::kGoodbye);
  server_.EndStream();
  EXPECT_TRUE(Wait().ok());
  EXPECT_TRUE(ResultBox::Open(folder_)->kept().empty());
}

TEST_F(AgentSessionTest, StoppingTakesWithin5sWithAServerThatSaysNothing) {
  StartAgent([](const trial::TrialPlan&, const trial::TrialRunnerOptions&) {
    trial::TrialResult result;
    result.outcome = trial::TrialOutcome::kOk;
    return result;
  });
  server_.Register(kStore);
  server_.Assign("sweeps/s/trials/1", SomePlan());
  server_.Next(v1::AgentMessage::kFinished);
  const absl::Time begin = absl::Now();
  EXPECT_TRUE(Stop().ok());
  EXPECT_LT(absl::Now() - begin, absl::Seconds(5));
  EXPECT_EQ(ResultBox::Open(folder_)->kept().size(), 1u);
}

TEST_F(AgentSessionTest, ABrokenCharacterOfAWorkerBreaksNoStream) {
  StartAgent([](const trial::TrialPlan&, const trial::TrialRunnerOptions&) {
    trial::TrialResult result;
    result.message = "rank 0 crashed\n\x82\xAC and more \xFF";
    return result;
  });
  server_.Register(kStore);
  server_.Assign("sweeps/s/trials/1", SomePlan());
  EXPECT_EQ(server_.Next(v1::AgentMessage::kFinished).finished().measurement().message(),
            "rank 0 crashed\n\xEF\xBF\xBD\xEF\xBF\xBD and more \xEF\xBF\xBD");
}

}  // namespace
}  // namespace meshwright::agent
