// What a sweep's owner does with it beside running it: compare, name layouts, run again, delete.
#include "gmock/gmock.h"
#include "tests/server/server_fixture.h"

namespace meshwright::server {
namespace {

using ::testing::HasSubstr;

// Both say the same MFU, each of what its own device reaches.
agent::TrialRunner RunsAt(double step_s, double measured_peak_flops) {
  return [=](const trial::TrialPlan& plan, const trial::TrialRunnerOptions&) {
    trial::TrialResult result = Measured(plan);
    result.step_s = step_s;
    result.mfu = 0.693;
    result.measured_peak_flops = measured_peak_flops;
    return result;
  };
}

// Never ends by itself.
trial::TrialResult RunUntilCancelled(const trial::TrialPlan&,
                                     const trial::TrialRunnerOptions& options) {
  while (!options.cancel->load()) absl::SleepFor(absl::Milliseconds(5));
  trial::TrialResult result;
  result.outcome = trial::TrialOutcome::kCancelled;
  return result;
}

class SweepsServiceTest : public ServerFixture {
 protected:
  grpc::Status Delete(const std::string& name, bool force) {
    grpc::ClientContext context;
    v1::DeleteSweepRequest request;
    request.set_name(name);
    request.set_force(force);
    google::protobuf::Empty response;
    return sweeps_->DeleteSweep(&context, request, &response);
  }
  grpc::Status Get(const std::string& name, v1::Sweep* sweep) {
    grpc::ClientContext context;
    v1::GetSweepRequest request;
    request.set_name(name);
    return sweeps_->GetSweep(&context, request, sweep);
  }
  // A sweep that has ended.
  v1::Sweep RunTiny(const v1::CreateSweepRequest& request) {
    v1::Sweep sweep;
    const grpc::Status status = Create(request, &sweep);
    EXPECT_TRUE(status.ok()) << status.error_message();
    const TestAgent agent(server_->address(), "a", RunsAt(0.5, 1e11));
    EXPECT_EQ(Watch(sweep.name()).back().kind(), v1::SWEEP_EVENT_KIND_SWEEP_FINISHED);
    return sweep;
  }
};

TEST_F(SweepsServiceTest, AgentsOfDifferentSpeedCompareByTheirSteps) {
  std::atomic<int> started{0};
  const auto one_each = [&](const agent::TrialRunner& runner) {
    return
        [&started, runner](const trial::TrialPlan& plan, const trial::TrialRunnerOptions& options) {
          ++started;
          while (started.load() < 2) absl::SleepFor(absl::Milliseconds(2));
          return runner(plan, options);
        };
  };
  const TestAgent slow(server_->address(), "slow", one_each(RunsAt(0.756, 8e10)));
  const TestAgent fast(server_->address(), "fast", one_each(RunsAt(0.632, 9.6e10)));
  AwaitAgents(2);
  v1::Sweep sweep;
  ASSERT_TRUE(Create(TinySweep(2), &sweep).ok());
  Watch(sweep.name());
  const auto by_step = Trials(sweep.name(), "step_s");
  const auto by_mfu = Trials(sweep.name(), "mfu desc");
  ASSERT_EQ(by_step.size(), 2u);
  ASSERT_EQ(by_mfu.size(), 2u);
  EXPECT_EQ(by_step[0].agent(), "fast");
  EXPECT_EQ(by_step[1].agent(), "slow");
  for (size_t i = 0; i < by_step.size(); ++i) {
    EXPECT_EQ(by_step[i].name(), by_mfu[i].name());
    const v1::Measurement& trial = by_step[i].measured();
    // Against the peak that the prediction is against, whoever ran it.
    const v1::LayoutEstimate& predicted = by_step[i].predicted();
    EXPECT_NEAR(trial.mfu_of_peak() * trial.step_s(), predicted.mfu() * predicted.time().step_s(),
                1e-9);
    EXPECT_NEAR(trial.mfu_causal_of_peak() * trial.step_s(),
                predicted.mfu_causal() * predicted.time().step_s(), 1e-9);
  }
}

TEST_F(SweepsServiceTest, NamedLayoutsRunBesideTheFoundOnes) {
  v1::CreateSweepRequest request = TinySweep(2);
  request.add_layouts("tp1.pp1.dp4.mb1.rc=full");
  const v1::Sweep sweep = RunTiny(request);
  int requested = 0;
  for (const v1::Trial& trial : Trials(sweep.name())) {
    EXPECT_EQ(trial.state(), v1::TRIAL_STATE_OK);
    if (!trial.requested()) continue;
    ++requested;
    EXPECT_EQ(trial.layout(), "tp1.cp1.pp1.dp4.mb1.vpp1.zero0.sp0.rc=full.sched=1f1b");
  }
  EXPECT_EQ(requested, 1);
  EXPECT_EQ(sweep.trials(), 3);
}

TEST_F(SweepsServiceTest, ARerunRunsExactlyTheSameTrials) {
  const v1::Sweep first = RunTiny(TinySweep(3));
  v1::RerunSweepRequest request;
  request.set_name(first.name());
  request.set_sweep_id("again");
  v1::Sweep second;
  grpc::ClientContext context;
  const grpc::Status status = sweeps_->RerunSweep(&context, request, &second);
  ASSERT_TRUE(status.ok()) << status.error_message();
  EXPECT_EQ(second.name(), "sweeps/again");
  EXPECT_EQ(second.rerun_of(), first.name());
  EXPECT_EQ(second.cluster_hash(), first.cluster_hash());
  EXPECT_EQ(second.trials_by_state().at("pending"), 3);
  const TestAgent agent(server_->address(), "b", RunsAt(0.4, 1e11));
  EXPECT_EQ(Watch(second.name()).back().kind(), v1::SWEEP_EVENT_KIND_SWEEP_FINISHED);
  const auto old_trials = Trials(first.name());
  const auto new_trials = Trials(second.name());
  ASSERT_EQ(new_trials.size(), old_trials.size());
  for (size_t i = 0; i < old_trials.size(); ++i) {
    EXPECT_EQ(new_trials[i].layout(), old_trials[i].layout());
    EXPECT_EQ(new_trials[i].predicted().SerializeAsString(),
              old_trials[i].predicted().SerializeAsString());
    EXPECT_EQ(new_trials[i].measured().step_s(), 0.4);
  }
  request.set_name("sweeps/nothing");
  grpc::ClientContext another;
  EXPECT_EQ(sweeps_->RerunSweep(&another, request, &second).error_code(),
            grpc::StatusCode::NOT_FOUND);
}

TEST_F(SweepsServiceTest, DeleteForgetsAnEndedSweep) {
  const v1::Sweep sweep = RunTiny(TinySweep(1));
  v1::Sweep found;
  ASSERT_TRUE(Get(sweep.name(), &found).ok());
  EXPECT_FALSE(found.cluster_json().empty());
  ASSERT_TRUE(Delete(sweep.name(), /*force=*/false).ok());
  EXPECT_EQ(Get(sweep.name(), &found).error_code(), grpc::StatusCode::NOT_FOUND);
  EXPECT_EQ(Delete(sweep.name(), /*force=*/false).error_code(), grpc::StatusCode::NOT_FOUND);
}

TEST_F(SweepsServiceTest, DeletingARunningSweepTakesForceAndEndsItsWatchersAndWorkers) {
  std::atomic<int> begun{0};
  std::atomic<int> ended{0};
  const TestAgent agent(
      server_->address(), "a",
      [&](const trial::TrialPlan& plan, const trial::TrialRunnerOptions& options) {
        ++begun;
        trial::TrialResult result = RunUntilCancelled(plan, options);
        ++ended;
        return result;
      });
  v1::CreateSweepRequest create = TinySweep(2);
  create.set_sweep_id("s");
  v1::Sweep sweep;
  ASSERT_TRUE(Create(create, &sweep).ok());
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(30));
  v1::WatchSweepRequest watch;
  watch.set_name(sweep.name());
  const auto stream = sweeps_->WatchSweep(&context, watch);
  v1::SweepEvent event;
  while (stream->Read(&event) && event.kind() != v1::SWEEP_EVENT_KIND_TRIAL_RUNNING) {
  }
  // A trial is said to run as its agent queues it: one that is ended then may never get so far.
  EXPECT_TRUE(WaitFor([&] { return begun.load() > 0; }));
  const grpc::Status refused = Delete(sweep.name(), /*force=*/false);
  EXPECT_EQ(refused.error_code(), grpc::StatusCode::FAILED_PRECONDITION);
  EXPECT_THAT(refused.error_message(), HasSubstr("s can't be deleted: it is running"));
  ASSERT_TRUE(Delete(sweep.name(), /*force=*/true).ok());
  while (stream->Read(&event)) {
  }
  const grpc::Status status = stream->Finish();
  if (event.kind() == v1::SWEEP_EVENT_KIND_SWEEP_CANCELLED) {
    EXPECT_TRUE(status.ok() || status.error_code() == grpc::StatusCode::NOT_FOUND);
  } else {
    EXPECT_EQ(status.error_code(), grpc::StatusCode::NOT_FOUND);
    EXPECT_THAT(status.error_message(), HasSubstr("sweep s was deleted"));
  }
  // The name is free, and the agent, whose old result is none of the new sweep's.
  ASSERT_TRUE(Create(create, &sweep).ok());
  EXPECT_TRUE(WaitFor([&] { return ended.load() > 0; }));
  EXPECT_EQ(ended.load(), 1);
  EXPECT_EQ(Trials(sweep.name())[0].attempt(), 2);
  ASSERT_TRUE(Delete(sweep.name(), /*force=*/true).ok());
}

}  // namespace
}  // namespace meshwright::server
