// AgentSessionTest is a fixture with a running agent and a FakeServer that the test controls.
#pragma once

#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/time/clock.h"
#include "executor/agent/agent.h"
#include "executor/agent/inbox.h"
#include "gtest/gtest.h"
#include "planner/catalog/catalog.h"
#include "tests/executor/agent/fake_server.h"

namespace meshwright::agent {

inline constexpr char kStore[] = "00112233445566778899aabbccddeeff";
inline constexpr char kOtherStore[] = "ffeeddccbbaa99887766554433221100";

// Returns the plan of a trial for `dp` ranks.
inline std::string SomePlan(int32_t dp = 1) {
  trial::TrialPlan plan;
  plan.model = *planner::FindModel("tinystories-15m");
  plan.layout = *planner::ParseLayout("tp1.cp1.pp1.dp1.mb1.vpp1.zero0.sp0.rc=none.sched=1f1b");
  plan.layout.dp = dp;
  plan.training = {.seq_len = 64, .global_batch = dp, .precision = planner::Precision::kFp32};
  return ToJson(plan).dump();
}

inline trial::TrialResult UntilCancelled(const trial::TrialPlan&,
                                         const trial::TrialRunnerOptions& options) {
  while (!options.cancel->load()) absl::SleepFor(absl::Milliseconds(1));
  trial::TrialResult result;
  result.outcome = trial::TrialOutcome::kCancelled;
  return result;
}

class AgentSessionTest : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = testing::TempDir() + "/session-" + std::to_string(getpid());
    std::filesystem::remove_all(folder_);
  }
  void TearDown() override {
    // The stream has to end, since no server accepts the results that the agent still has.
    stop_.store(true);
    server_.EndStream();
    Wait().IgnoreError();
    std::filesystem::remove_all(folder_);
  }

  void StartAgent(TrialRunner runner = UntilCancelled, GangRunner together = {},
                  const wire::DeviceSet& devices = {planner::DeviceKind::kCpu, 1}) {
    AgentOptions options;
    options.server.address = server_.address();
    for (const std::string& address : other_servers_) {
      options.other_servers.push_back(options.server);
      options.other_servers.back().address = address;
    }
    options.epochs_file = epochs_file_;
    options.name = "a";
    options.instance = "i";
    options.host = "h";
    options.version = "test";
    options.devices = devices;
    options.worker_path = "/opt/own-worker";
    options.result_folder = folder_;
    options.offers = offers_;
    options.address = "127.0.0.1";
    options.runners.alone = [this, runner = std::move(runner)](
                                const trial::TrialPlan& plan,
                                const trial::TrialRunnerOptions& runner_options) {
      begun_.Push(runner_options.first_device);
      return runner(plan, runner_options);
    };
    options.runners.together = std::move(together);
    options.uniform = [] { return 0.0; };
    options.log = [](const LogEntry&) {};
    agent_ = std::make_unique<Agent>(std::move(options));
    thread_ = std::thread([this] { status_ = agent_->Run([this] { return stop_.load(); }); });
  }
  // Waits until a trial's runner is called, and returns the trial's first device, or -1 if no
  // runner is called. An agent reports a trial as started when it queues the trial. A trial that is
  // ended early may therefore never reach its runner.
  int32_t AwaitBegun() {
    const std::optional<int32_t> first_device = begun_.Pop(absl::Seconds(20));
    EXPECT_TRUE(first_device.has_value()) << "no trial began";
    return first_device.value_or(-1);
  }
  absl::Status Stop() {
    stop_.store(true);
    return Wait();
  }
  // Waits until the agent ends by itself.
  absl::Status Wait() {
    if (thread_.joinable()) thread_.join();
    return status_;
  }
  // Writes a result to the agent's folder, as an earlier agent would have left it.
  void Keep(const std::string& store_id, const std::string& sweep) {
    KeptResult kept;
    kept.store_id = store_id;
    kept.key = {sweep, 1, 1};
    kept.result.outcome = trial::TrialOutcome::kOk;
    kept.result.step_s = 0.5;
    ASSERT_TRUE(ResultBox::Open(folder_)->Add(kept).ok());
  }

  std::string folder_;
  std::vector<std::string> other_servers_;  // of the agent that StartAgent() starts
  std::string epochs_file_;                 // likewise
  std::vector<wire::RunnerOffer> offers_;   // of the agent that StartAgent() starts
  Inbox<int32_t> begun_;
  FakeServer server_;
  std::atomic<bool> stop_{false};
  absl::Status status_;
  std::unique_ptr<Agent> agent_;
  std::thread thread_;
};

}  // namespace meshwright::agent
