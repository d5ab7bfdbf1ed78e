// ServerFixture is a fixture with a server in this process. TestAgent is an agent whose trials run
// a function of the test.
#pragma once

#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <thread>

#include "absl/time/clock.h"
#include "db/sqlite.h"
#include "db/sqlite_store.h"
#include "executor/agent/agent.h"
#include "grpcpp/create_channel.h"
#include "grpcpp/security/credentials.h"
#include "gtest/gtest.h"
#include "server/server.h"

namespace meshwright::server {

inline trial::TrialResult Measured(const trial::TrialPlan& plan) {
  trial::TrialResult result;
  result.outcome = trial::TrialOutcome::kOk;
  result.step_s = 0.1;
  result.mfu = 0.01 * plan.layout.tp;
  for (int32_t rank = 0; rank < plan.layout.devices(); ++rank) {
    result.ranks.push_back({.rank = rank, .peak_bytes = 1000});
  }
  result.worker_version = "fake";
  return result;
}

inline trial::TrialResult RunAtOnce(const trial::TrialPlan& plan,
                                    const trial::TrialRunnerOptions& options) {
  options.progress({plan.steps, plan.steps, 0.1, 9.0});
  return Measured(plan);
}

// Returns a runner whose trials run until `release` is true or they are cancelled.
inline agent::TrialRunner RunUntil(const std::atomic<bool>& release, std::atomic<int>& started) {
  return [&](const trial::TrialPlan& plan, const trial::TrialRunnerOptions& options) {
    ++started;
    while (!release.load()) {
      if (options.cancel->load()) {
        trial::TrialResult result;
        result.outcome = trial::TrialOutcome::kCancelled;
        return result;
      }
      absl::SleepFor(absl::Milliseconds(5));
    }
    return Measured(plan);
  };
}

template <typename Condition>
bool WaitFor(const Condition& condition) {
  const absl::Time deadline = absl::Now() + absl::Seconds(20);
  while (absl::Now() < deadline) {
    if (condition()) return true;
    absl::SleepFor(absl::Milliseconds(10));
  }
  return false;
}

// An agent on its own thread. The destructor stops it.
class TestAgent {
 public:
  TestAgent(const std::string& server, const std::string& name, agent::TrialRunner runner,
            const std::string& result_folder = "", const std::string& cluster_json = "",
            const std::string& instance = "")
      : TestAgent(
            ServerAccess{.address = server, .ca = {}, .certificate = {}, .key = {}, .token = {}},
            name, std::move(runner), result_folder, cluster_json, instance) {}
  TestAgent(const ServerAccess& server, const std::string& name, agent::TrialRunner runner,
            const std::string& result_folder = "", const std::string& cluster_json = "",
            const std::string& instance = "") {
    agent::AgentOptions options;
    options.server = server;
    options.name = name;
    options.instance = instance.empty() ? name : instance;
    options.host = "test-host";
    options.version = "test";
    options.devices = {planner::DeviceKind::kCpu, 4};
    options.result_folder = result_folder;
    options.cluster_json = cluster_json;
    options.runners.alone = std::move(runner);
    options.uniform = [] { return 0.0; };
    options.log = [](const LogEntry&) {};
    agent_ = std::make_unique<agent::Agent>(std::move(options));
    thread_ = std::thread([this] {
      status_ = agent_->Run([this] { return stop_.load(); });
      ended_.store(true);
    });
  }
  ~TestAgent() { Stop().IgnoreError(); }
  bool ended() const { return ended_.load(); }
  // Waits until the agent ends by itself, and returns its status.
  absl::Status Wait() {
    if (thread_.joinable()) thread_.join();
    return status_;
  }
  absl::Status Stop() {
    stop_.store(true);
    if (thread_.joinable()) thread_.join();
    return status_;
  }

 private:
  std::atomic<bool> stop_{false};
  std::atomic<bool> ended_{false};
  absl::Status status_;
  std::unique_ptr<agent::Agent> agent_;
  std::thread thread_;
};

class ServerFixture : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = testing::TempDir() + "/server-" + std::to_string(getpid());
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
    StartServer("127.0.0.1:0");
  }
  void TearDown() override {
    server_.reset();
    std::filesystem::remove_all(folder_);
  }

  void StartServer(const std::string& listen) {
    auto store = db::SqliteSweepStore::Open(folder_ + "/sweeps.db");
    ASSERT_TRUE(store.ok()) << store.status();
    ServerOptions options;
    options.listen = listen;
    options.http = http_;
    options.host_cores = 4;
    options.version = "test";
    options.clock = [this] { return absl::Now() + absl::Seconds(wall_ahead_s_.load()); };
    options.engine.lease = absl::Seconds(10);
    options.engine.heartbeat = absl::Milliseconds(200);
    options.engine.reconnect_grace = absl::Seconds(2);
    auto server = Server::Start(*std::move(store), std::move(options));
    ASSERT_TRUE(server.ok()) << server.status();
    server_ = *std::move(server);
    channel_ = grpc::CreateChannel(server_->address(), grpc::InsecureChannelCredentials());
    sweeps_ = v1::Sweeps::NewStub(channel_);
    planner_ = v1::Planner::NewStub(channel_);
    agents_ = v1::Agents::NewStub(channel_);
  }

  std::vector<v1::Agent> Agents() {
    grpc::ClientContext context;
    v1::ListAgentsResponse response;
    const grpc::Status status = agents_->ListAgents(&context, {}, &response);
    EXPECT_TRUE(status.ok()) << status.error_message();
    return {response.agents().begin(), response.agents().end()};
  }
  // Waits until that many agents are connected.
  std::vector<v1::Agent> AwaitAgents(size_t count) {
    const absl::Time deadline = absl::Now() + absl::Seconds(20);
    std::vector<v1::Agent> agents = Agents();
    while (agents.size() < count && absl::Now() < deadline) {
      absl::SleepFor(absl::Milliseconds(10));
      agents = Agents();
    }
    EXPECT_EQ(agents.size(), count);
    return agents;
  }

  // Returns a request for a sweep that runs each of the `trials` best layouts.
  static v1::CreateSweepRequest TinySweep(int32_t trials) {
    v1::CreateSweepRequest request;
    request.mutable_plan()->mutable_model()->set_preset("tinystories-15m");
    request.mutable_plan()->mutable_cluster()->set_preset("local-cpu");
    request.mutable_plan()->set_gpus(4);
    request.mutable_plan()->set_seq_len(64);
    request.mutable_plan()->set_global_batch(8);
    request.set_trials(trials);
    request.set_candidates(trials);
    request.set_min_gain(0.0);
    request.set_fresh(true);
    return request;
  }

  grpc::Status Create(const v1::CreateSweepRequest& request, v1::Sweep* sweep) {
    grpc::ClientContext context;
    return sweeps_->CreateSweep(&context, request, sweep);
  }

  grpc::Status Get(const std::string& name, v1::Sweep* sweep) {
    grpc::ClientContext context;
    v1::GetSweepRequest request;
    request.set_name(name);
    return sweeps_->GetSweep(&context, request, sweep);
  }

  // Changes the server's database without the server.
  void Execute(const std::string& sql) {
    auto connection = db::SqliteConnection::Open(folder_ + "/sweeps.db",
                                                 db::SqliteConnection::Mode::kReadWriteCreate);
    ASSERT_TRUE(connection.ok()) << connection.status();
    const absl::Status status = (*connection)->Execute(sql);
    ASSERT_TRUE(status.ok()) << status;
  }

  // Returns all events after `after`, until the sweep has ended.
  std::vector<v1::SweepEvent> Watch(const std::string& name, int64_t after = 0) {
    grpc::ClientContext context;
    context.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(30));
    v1::WatchSweepRequest request;
    request.set_name(name);
    request.set_after_sequence(after);
    const auto stream = sweeps_->WatchSweep(&context, request);
    std::vector<v1::SweepEvent> events;
    v1::SweepEvent event;
    while (stream->Read(&event)) events.push_back(event);
    const grpc::Status status = stream->Finish();
    EXPECT_TRUE(status.ok()) << status.error_message();
    return events;
  }

  std::vector<v1::Trial> Trials(const std::string& name, const std::string& order_by = "") {
    grpc::ClientContext context;
    v1::ListTrialsRequest request;
    request.set_parent(name);
    request.set_order_by(order_by);
    v1::ListTrialsResponse response;
    const grpc::Status status = sweeps_->ListTrials(&context, request, &response);
    EXPECT_TRUE(status.ok()) << status.error_message();
    return {response.trials().begin(), response.trials().end()};
  }

  std::string folder_;
  std::atomic<int64_t> wall_ahead_s_{0};  // seconds by which the server's wall clock is ahead
  std::optional<HttpOptions> http_;       // of servers that are started later
  std::unique_ptr<Server> server_;
  std::shared_ptr<grpc::Channel> channel_;
  std::unique_ptr<v1::Sweeps::Stub> sweeps_;
  std::unique_ptr<v1::Planner::Stub> planner_;
  std::unique_ptr<v1::Agents::Stub> agents_;
};

}  // namespace meshwright::server
