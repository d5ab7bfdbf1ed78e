#include "server/server.h"

#include <algorithm>

#include "gmock/gmock.h"
#include "planner/catalog/catalog.h"
#include "proto/rpc_status.h"
#include "tests/server/server_fixture.h"

namespace meshwright::server {
namespace {

using ::testing::HasSubstr;

class ServerTest : public ServerFixture {};

TEST_F(ServerTest, RunsASweepAndReportsPredictedBesideMeasured) {
  v1::Sweep sweep;
  ASSERT_TRUE(Create(TinySweep(3), &sweep).ok());
  EXPECT_EQ(sweep.name(), "sweeps/tinystories-15m-1");
  EXPECT_THAT(sweep.reason(), HasSubstr("needs 4, connected 0"));
  EXPECT_EQ(sweep.dtype(), v1::DTYPE_FP32);
  EXPECT_GT(sweep.funnel().invalid_by_rule().size(), 0u);
  const TestAgent agent(server_->address(), "a", RunAtOnce);
  auto events = Watch(sweep.name());
  // How far a trial is has no number, and a watch that comes later does not see it.
  std::erase_if(events, [](const v1::SweepEvent& event) {
    EXPECT_EQ(event.sequence() == 0, event.kind() == v1::SWEEP_EVENT_KIND_TRIAL_PROGRESS);
    return event.sequence() == 0;
  });
  EXPECT_TRUE(std::is_sorted(events.begin(), events.end(), [](const auto& a, const auto& b) {
    return a.sequence() < b.sequence();
  }));
  EXPECT_EQ(events.back().kind(), v1::SWEEP_EVENT_KIND_SWEEP_FINISHED);
  // A watch that is taken up again gets the rest, once.
  const auto rest = Watch(sweep.name(), events[2].sequence());
  ASSERT_EQ(rest.size(), events.size() - 3);
  EXPECT_EQ(rest.front().sequence(), events[3].sequence());

  const auto trials = Trials(sweep.name(), "mfu desc");
  ASSERT_EQ(trials.size(), 3u);
  EXPECT_GE(trials[0].measured().mfu(), trials[2].measured().mfu());
  for (const v1::Trial& trial : trials) {
    EXPECT_EQ(trial.state(), v1::TRIAL_STATE_OK);
    EXPECT_EQ(trial.predicted().layout(), trial.layout());
    EXPECT_GT(trial.predicted().time().step_s(), 0.0);
    EXPECT_GT(trial.predicted().time().compute_s(), 0.0);
    EXPECT_EQ(trial.measured().ranks_size(), 4);
    EXPECT_EQ(trial.measured().worker_version(), "fake");
    EXPECT_EQ(trial.host(), "test-host");
  }
}

TEST_F(ServerTest, CreateSweepNamesTheFieldThatIsOff) {
  const auto violation = [&](const v1::CreateSweepRequest& request) {
    v1::Sweep sweep;
    const grpc::Status status = Create(request, &sweep);
    EXPECT_EQ(status.error_code(), grpc::StatusCode::INVALID_ARGUMENT) << status.error_message();
    const auto violations = FieldViolationsOf(status);
    return violations.empty() ? std::string("none") : violations.front().field;
  };
  EXPECT_EQ(violation({}), "model");
  v1::CreateSweepRequest request = TinySweep(0);
  EXPECT_EQ(violation(request), "trials");
  request = TinySweep(1);
  request.mutable_plan()->set_gpus(0);
  EXPECT_EQ(violation(request), "gpus");
  request = TinySweep(1);
  request.mutable_plan()->set_global_batch(-8);
  EXPECT_EQ(violation(request), "global_batch");
  request = TinySweep(1);
  request.set_sweep_id("a b");
  EXPECT_EQ(violation(request), "sweep_id");
  request.set_sweep_id("-x");
  EXPECT_EQ(violation(request), "sweep_id");
  request = TinySweep(1);
  request.add_layouts("tp4.pp1.dp1");
  EXPECT_EQ(violation(request), "layout");
}

TEST_F(ServerTest, UnknownNamesListTheNearest) {
  v1::CreateSweepRequest request = TinySweep(1);
  request.mutable_plan()->mutable_model()->set_preset("tinystories");
  v1::Sweep sweep;
  grpc::Status status = Create(request, &sweep);
  EXPECT_EQ(status.error_code(), grpc::StatusCode::NOT_FOUND);
  EXPECT_THAT(status.error_message(), HasSubstr("tinystories-15m"));
  request = TinySweep(1);
  request.set_sweep_id("night-run");
  ASSERT_TRUE(Create(request, &sweep).ok());
  grpc::ClientContext context;
  v1::GetSweepRequest get;
  get.set_name("sweeps/nightrun");
  status = sweeps_->GetSweep(&context, get, &sweep);
  EXPECT_EQ(status.error_code(), grpc::StatusCode::NOT_FOUND);
  EXPECT_THAT(status.error_message(), HasSubstr("night-run"));
}

TEST_F(ServerTest, ValidateOnlyCreatesNothingAndRequestIdsCreateOnce) {
  v1::CreateSweepRequest request = TinySweep(2);
  request.set_validate_only(true);
  v1::Sweep sweep;
  ASSERT_TRUE(Create(request, &sweep).ok());
  EXPECT_EQ(sweep.trials(), 2);
  request.set_validate_only(false);
  request.set_request_id("once");
  ASSERT_TRUE(Create(request, &sweep).ok());
  v1::Sweep again;
  ASSERT_TRUE(Create(request, &again).ok());
  EXPECT_EQ(again.name(), sweep.name());
  request.set_sweep_id(sweep.name().substr(sweep.name().rfind('/') + 1));
  request.set_request_id("another");
  request.set_validate_only(true);
  EXPECT_EQ(Create(request, &again).error_code(), grpc::StatusCode::ALREADY_EXISTS);
  grpc::ClientContext context;
  v1::ListSweepsResponse list;
  ASSERT_TRUE(sweeps_->ListSweeps(&context, {}, &list).ok());
  EXPECT_EQ(list.sweeps_size(), 1);
}

TEST_F(ServerTest, ListsInPages) {
  for (int i = 0; i < 3; ++i) {
    v1::Sweep sweep;
    ASSERT_TRUE(Create(TinySweep(1), &sweep).ok());
  }
  v1::ListSweepsRequest request;
  request.set_page_size(2);
  v1::ListSweepsResponse first;
  v1::ListSweepsResponse second;
  grpc::ClientContext first_call;
  ASSERT_TRUE(sweeps_->ListSweeps(&first_call, request, &first).ok());
  EXPECT_EQ(first.sweeps_size(), 2);
  request.set_page_token(first.next_page_token());
  grpc::ClientContext second_call;
  ASSERT_TRUE(sweeps_->ListSweeps(&second_call, request, &second).ok());
  ASSERT_EQ(second.sweeps_size(), 1);
  EXPECT_EQ(second.sweeps(0).name(), "sweeps/tinystories-15m-1");
  EXPECT_TRUE(second.next_page_token().empty());
}

TEST_F(ServerTest, CancelStopsTheWorkers) {
  std::atomic<bool> release{false};
  std::atomic<int> started{0};
  const TestAgent agent(server_->address(), "a", RunUntil(release, started));
  v1::Sweep sweep;
  ASSERT_TRUE(Create(TinySweep(2), &sweep).ok());
  ASSERT_TRUE(WaitFor([&] { return started.load() == 1; }));
  grpc::ClientContext context;
  v1::CancelSweepRequest request;
  request.set_name(sweep.name());
  ASSERT_TRUE(sweeps_->CancelSweep(&context, request, &sweep).ok());
  EXPECT_EQ(sweep.state(), v1::SWEEP_STATE_CANCELLED);
  EXPECT_EQ(sweep.trials_by_state_size(), 1);
  EXPECT_EQ(sweep.trials_by_state().at("cancelled"), 2);
  EXPECT_EQ(sweep.reason(), "cancelled by request: 2 cancelled");
  EXPECT_EQ(Watch(sweep.name()).back().kind(), v1::SWEEP_EVENT_KIND_SWEEP_CANCELLED);
  // The agent is free again only once its workers are gone.
  release.store(true);
  ASSERT_TRUE(Create(TinySweep(1), &sweep).ok());
  EXPECT_EQ(Watch(sweep.name()).back().kind(), v1::SWEEP_EVENT_KIND_SWEEP_FINISHED);
}

TEST_F(ServerTest, ARestartInMidTrialLosesNothing) {
  std::atomic<bool> release{false};
  std::atomic<int> started{0};
  const std::string address = server_->address();
  const TestAgent agent(address, "a", RunUntil(release, started));
  v1::Sweep sweep;
  ASSERT_TRUE(Create(TinySweep(1), &sweep).ok());
  ASSERT_TRUE(WaitFor([&] { return started.load() == 1; }));
  server_.reset();
  release.store(true);  // the result comes while there is no server
  absl::SleepFor(absl::Milliseconds(200));
  StartServer(address);
  EXPECT_EQ(Watch(sweep.name()).back().kind(), v1::SWEEP_EVENT_KIND_SWEEP_FINISHED);
  const auto trials = Trials(sweep.name());
  EXPECT_EQ(trials[0].attempt(), 1);
  EXPECT_EQ(trials[0].state(), v1::TRIAL_STATE_OK);
  EXPECT_EQ(started.load(), 1);
}

// Somebody else holds the database's lock when a result comes and the server is stopped.
TEST_F(ServerTest, ALockedDatabaseHoldsUpNoEndAndLosesNoResult) {
  std::atomic<bool> release{false};
  std::atomic<int> started{0};
  const TestAgent agent(server_->address(), "a", RunUntil(release, started), folder_ + "/results");
  v1::Sweep sweep;
  ASSERT_TRUE(Create(TinySweep(1), &sweep).ok());
  ASSERT_TRUE(WaitFor([&] { return started.load() == 1; }));
  auto locker = db::SqliteConnection::Open(folder_ + "/sweeps.db",
                                           db::SqliteConnection::Mode::kReadWriteCreate);
  ASSERT_TRUE(locker.ok()) << locker.status();
  // Once what was decided before is stored.
  ASSERT_TRUE(WaitFor([&] { return Trials(sweep.name())[0].state() == v1::TRIAL_STATE_RUNNING; }));
  ASSERT_TRUE((*locker)->Execute("BEGIN IMMEDIATE").ok());
  release.store(true);
  ASSERT_TRUE(
      WaitFor([&] { return agent::ResultBox::Open(folder_ + "/results")->kept().size() == 1; }));
  const std::string address = server_->address();
  const absl::Time begin = absl::Now();
  server_.reset();
  EXPECT_LT(absl::Now() - begin, absl::Seconds(5));
  ASSERT_TRUE((*locker)->Execute("ROLLBACK").ok());
  StartServer(address);
  EXPECT_EQ(Watch(sweep.name()).back().kind(), v1::SWEEP_EVENT_KIND_SWEEP_FINISHED);
  EXPECT_EQ(Trials(sweep.name())[0].attempt(), 1);
  EXPECT_EQ(started.load(), 1);
}

TEST_F(ServerTest, AFailureOfTheInfrastructureIsRetriedOnAnotherAgent) {
  const auto broken = [](const trial::TrialPlan&, const trial::TrialRunnerOptions&) {
    trial::TrialResult result;
    result.outcome = trial::TrialOutcome::kFailed;
    result.fault = trial::Fault::kInfrastructure;
    result.message = "rank 0 was killed by signal 9";
    return result;
  };
  const TestAgent bad(server_->address(), "a", broken);
  AwaitAgents(1);
  const TestAgent good(server_->address(), "b", RunAtOnce);
  AwaitAgents(2);
  v1::Sweep sweep;
  ASSERT_TRUE(Create(TinySweep(4), &sweep).ok());
  EXPECT_EQ(Watch(sweep.name()).back().kind(), v1::SWEEP_EVENT_KIND_SWEEP_FINISHED);
  for (const v1::Trial& trial : Trials(sweep.name())) {
    EXPECT_EQ(trial.state(), v1::TRIAL_STATE_OK) << trial.reason();
    EXPECT_EQ(trial.agent(), "b");
  }
  EXPECT_GT(Agents()[0].failures_in_a_row(), 0);
}

TEST_F(ServerTest, AStoppedAgentsTrialRunsElsewhere) {
  std::atomic<bool> release{false};
  std::atomic<int> started{0};
  auto first = std::make_unique<TestAgent>(server_->address(), "a", RunUntil(release, started));
  v1::Sweep sweep;
  ASSERT_TRUE(Create(TinySweep(1), &sweep).ok());
  ASSERT_TRUE(WaitFor([&] { return started.load() == 1; }));
  first.reset();
  const TestAgent second(server_->address(), "b", RunAtOnce);
  Watch(sweep.name());
  EXPECT_EQ(Trials(sweep.name())[0].attempt(), 2);
  EXPECT_EQ(Trials(sweep.name())[0].agent(), "b");
}

TEST_F(ServerTest, AnAgentWithTheNameOfALivingOneEndsWithAnError) {
  const TestAgent first(server_->address(), "a", RunAtOnce);
  AwaitAgents(1);
  TestAgent second(server_->address(), "a", RunAtOnce, "", "", "another process");
  const absl::Status status = second.Wait();
  EXPECT_TRUE(absl::IsAlreadyExists(status)) << status;
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("an agent named \"a\" is already connected"));
  EXPECT_EQ(Agents().size(), 1u);
}

TEST_F(ServerTest, AnAgentWhoseNameIsNoneEndsWithAnError) {
  TestAgent agent(server_->address(), "a b", RunAtOnce);
  const absl::Status status = agent.Wait();
  EXPECT_TRUE(absl::IsInvalidArgument(status)) << status;
  EXPECT_THAT(std::string(status.message()), HasSubstr("can't name an agent"));
}

TEST_F(ServerTest, AnswersAsThePlannerDoes) {
  v1::RecommendRequest request;
  request.mutable_plan()->mutable_model()->set_preset("llama-3-8b");
  request.mutable_plan()->mutable_cluster()->set_preset("h100");
  request.mutable_plan()->set_gpus(16);
  request.mutable_plan()->set_seq_len(4096);
  request.mutable_plan()->set_global_batch(64);
  request.set_top(3);
  v1::RecommendResponse response;
  grpc::ClientContext context;
  ASSERT_TRUE(planner_->Recommend(&context, request, &response).ok());
  ASSERT_EQ(response.layouts_size(), 3);
  EXPECT_EQ(
      response.funnel().enumerated(),
      response.funnel().invalid() + response.funnel().memory() + response.funnel().evaluated());
  v1::EstimateRequest one;
  *one.mutable_plan() = request.plan();
  one.set_layout(response.layouts(0).layout());
  v1::EstimateResponse estimate;
  grpc::ClientContext second;
  ASSERT_TRUE(planner_->Estimate(&second, one, &estimate).ok());
  EXPECT_EQ(estimate.estimate().SerializeAsString(), response.layouts(0).SerializeAsString());
}

TEST_F(ServerTest, KeepsWhatAnAgentMeasuredWithIt) {
  const std::string cluster = planner::ClusterToJson(planner::FindCluster("local-cpu", 2).value());
  const TestAgent measured(server_->address(), "a", RunAtOnce, "", cluster);
  const TestAgent without(server_->address(), "b", RunAtOnce);
  // An agent whose cluster can't be read runs trials all the same.
  const TestAgent broken(server_->address(), "c", RunAtOnce, "", R"({"name": "half"})");
  const std::vector<v1::Agent> agents = AwaitAgents(3);
  EXPECT_EQ(agents[0].cluster_json(), cluster);
  EXPECT_EQ(agents[1].cluster_json(), "");
  EXPECT_EQ(agents[2].cluster_json(), "");
  // What the listing has is what a request takes.
  v1::CreateSweepRequest request = TinySweep(1);
  request.mutable_plan()->mutable_cluster()->set_cluster_json(agents[0].cluster_json());
  v1::Sweep sweep;
  ASSERT_TRUE(Create(request, &sweep).ok());
  EXPECT_EQ(sweep.dtype(), v1::DTYPE_FP32);
  EXPECT_EQ(Watch(sweep.name()).back().kind(), v1::SWEEP_EVENT_KIND_SWEEP_FINISHED);
}

// As a server of another kind, or one whose file was changed, could send it.
TEST_F(ServerTest, AnAgentOutlivesADeepPlan) {
  v1::Sweep sweep;
  ASSERT_TRUE(Create(TinySweep(1), &sweep).ok());
  const std::string deep = std::string(80'000, '[') + std::string(80'000, ']');
  const auto connection = db::SqliteConnection::Open(folder_ + "/sweeps.db",
                                                     db::SqliteConnection::Mode::kReadWriteCreate);
  ASSERT_TRUE((*connection)->Execute("UPDATE candidates SET plan_json = '" + deep + "'").ok());
  const TestAgent agent(server_->address(), "a", RunAtOnce);
  EXPECT_EQ(Watch(sweep.name()).back().kind(), v1::SWEEP_EVENT_KIND_SWEEP_FINISHED);
  const auto trials = Trials(sweep.name());
  EXPECT_EQ(trials[0].state(), v1::TRIAL_STATE_FAILED);
  EXPECT_THAT(trials[0].measured().message(), HasSubstr("nested too deep"));
}

TEST_F(ServerTest, ATakenPortIsReported) {
  ServerOptions options;
  options.listen = server_->address();
  options.clock = absl::Now;
  const auto second = Server::Start(*db::SqliteSweepStore::Open(db::kInMemory), options);
  EXPECT_TRUE(absl::IsUnavailable(second.status())) << second.status();
  EXPECT_THAT(std::string(second.status().message()), HasSubstr("in use"));
}

TEST(ListenAddressTest, StaysOnThisMachineUnlessToldOtherwise) {
  EXPECT_TRUE(CheckListenAddress("127.0.0.1:0", false).ok());
  EXPECT_TRUE(absl::IsInvalidArgument(CheckListenAddress("0.0.0.0:7077", false)));
  EXPECT_TRUE(CheckListenAddress("0.0.0.0:7077", true).ok());
  EXPECT_TRUE(absl::IsInvalidArgument(CheckListenAddress("7077", true)));
}

}  // namespace
}  // namespace meshwright::server
