// A sweep through the real server, agents and workers, and what happens when one of them is killed.
#include <fstream>
#include <memory>

#include "nlohmann/json.hpp"
#include "tests/e2e/process.h"
#include "tools/cli/common/quiet_benchmark.h"

namespace meshwright::cli {
namespace {

using nlohmann::json;

class SweepTest : public BinaryTest {
 protected:
  std::unique_ptr<Process> StartAgent(const std::string& name, int ranks,
                                      const std::vector<std::string>& benchmark = {
                                          "--no-benchmark"}) {
    std::vector<std::string> arguments = {"agent",
                                          "--server",
                                          address_,
                                          "--devices",
                                          "cpu:" + std::to_string(ranks),
                                          "--name",
                                          name,
                                          "--state-dir",
                                          folder_ + "/state-" + name};
    arguments.insert(arguments.end(), benchmark.begin(), benchmark.end());
    return Start(name, arguments);
  }
  std::unique_ptr<Process> StartSweep(int ranks, int trials, int steps,
                                      const std::string& cluster = "local-cpu",
                                      const std::string& model = "tinystories-15m") {
    auto start = Start("start", {"sweep",          "start",
                                 "--server",       address_,
                                 "--name",         "s",
                                 "--model",        model,
                                 "--cluster",      cluster,
                                 "--gpus",         std::to_string(ranks),
                                 "--seq-len",      "64",
                                 "--global-batch", "8",
                                 "--trials",       std::to_string(trials),
                                 "--candidates",   std::to_string(trials),
                                 "--min-gain",     "0",
                                 "--steps",        std::to_string(steps)});
    EXPECT_EQ(start->WaitWithin(std::chrono::seconds(30)), 0) << start->err();
    return start;
  }
  json Show() {
    auto show = Start("show", {"sweep", "show", "s", "--server", address_, "--format", "json"});
    EXPECT_EQ(show->WaitWithin(std::chrono::seconds(30)), 0) << show->err();
    return json::parse(show->out());
  }
  std::unique_ptr<Process> Watch(const std::string& log) {
    return Start(log, {"sweep", "watch", "s", "--server", address_, "--format", "json"});
  }
  // Waits until the watcher has seen a training step of that attempt.
  static bool SawStep(Process& watch, int attempt = 1) {
    return WaitFor([&] {
      std::istringstream lines(watch.out());
      for (std::string line; std::getline(lines, line);) {
        const json event = json::parse(line, nullptr, /*allow_exceptions=*/false);
        if (event.is_object() && event["kind"] == "trial_progress" && event["attempt"] == attempt) {
          return true;
        }
      }
      return false;
    });
  }
};

TEST_F(SweepTest, MeasuresThroughServerAgentAndWorkers) {
  const auto server = Serve("server", "127.0.0.1:0");
  const auto agent = StartAgent("a", 4);
  StartSweep(4, 2, 2);
  const auto watch = Watch("watch");
  ASSERT_EQ(watch->WaitWithin(std::chrono::seconds(120)), 0) << watch->err();
  const json shown = Show();
  EXPECT_EQ(shown["sweep"]["state"], "finished");
  ASSERT_EQ(shown["trials"].size(), 2u);
  for (const json& trial : shown["trials"]) {
    EXPECT_EQ(trial["state"], "ok") << trial["reason"];
    EXPECT_EQ(trial["measured"]["losses"].size(), 2u);
    EXPECT_EQ(trial["measured"]["ranks"].size(), 4u);
    EXPECT_GT(trial["measured"]["mfu"].get<double>(), 0.0);
    EXPECT_GT(trial["predicted"]["time"]["step_s"].get<double>(), 0.0);
    for (const json& rank : trial["measured"]["ranks"]) {
      EXPECT_GT(rank["peak_bytes"].get<int64_t>(), 0);
    }
  }
  // The loss of the first step depends on the seed only, not on the layout.
  EXPECT_NEAR(shown["trials"][0]["measured"]["losses"][0].get<double>(),
              shown["trials"][1]["measured"]["losses"][0].get<double>(), 1e-3);
  agent->Signal(SIGTERM);
  EXPECT_EQ(agent->WaitWithin(std::chrono::seconds(20)), 0);
  server->Signal(SIGTERM);
  EXPECT_EQ(server->WaitWithin(std::chrono::seconds(20)), 0);
  const auto check = Start("check", {"db", "check", "--db", folder_ + "/sweeps.db"});
  EXPECT_EQ(check->WaitWithin(std::chrono::seconds(20)), 0) << check->out();
}

// Nobody runs an agent: layouts are asked for, and what came of them is told.
TEST_F(SweepTest, HandsItsTrialsOutAndTakesWhatIsTold) {
  const auto server = Serve("server", "127.0.0.1:0");
  const auto run = [&](const std::string& log, std::vector<std::string> arguments) {
    arguments.insert(arguments.end(), {"--server", address_, "--format", "json"});
    return Start(log, arguments);
  };
  auto start =
      run("start",
          {"sweep",          "start", "--name",      "s",        "--model",   "tinystories-15m",
           "--cluster",      "h100",  "--gpus",      "16",       "--seq-len", "256",
           "--global-batch", "64",    "--framework", "megatron", "--trials",  "2",
           "--candidates",   "2",     "--min-gain",  "0",        "--ask"});
  ASSERT_EQ(start->WaitWithin(std::chrono::seconds(30)), 0) << start->err();
  for (int trial = 1; trial <= 2; ++trial) {
    auto ask = run("ask", {"sweep", "ask", "s", "--to", "megatron"});
    ASSERT_EQ(ask->WaitWithin(std::chrono::seconds(30)), 0) << ask->err();
    const json asked = json::parse(ask->out());
    EXPECT_EQ(asked["trial"], "s/trials/" + std::to_string(trial));
    EXPECT_NE(asked["export"]["text"].get<std::string>().find("torchrun"), std::string::npos);
    auto tell = run("tell", {"sweep", "tell", "s", "--trial", std::to_string(trial), "--token",
                             asked["token"], "--outcome", "ok", "--step-s", "0.5"});
    ASSERT_EQ(tell->WaitWithin(std::chrono::seconds(30)), 0) << tell->err();
    EXPECT_EQ(json::parse(tell->out())["state"], "ok");
  }
  auto none = run("none", {"sweep", "ask", "s"});
  EXPECT_EQ(none->WaitWithin(std::chrono::seconds(30)), 1);
  EXPECT_NE(none->err().find("it is finished"), std::string::npos) << none->err();
  auto told = run("told", {"history", "--where", "source = told"});
  ASSERT_EQ(told->WaitWithin(std::chrono::seconds(30)), 0) << told->err();
  EXPECT_EQ(json::parse(told->out())["trials"].size(), 2u);
}

// Its best layouts divide the experts, and every rank holds to the byte what was planned.
TEST_F(SweepTest, MeasuresAMixtureOfExperts) {
  const std::string model = folder_ + "/mixtral.json";
  std::ofstream(model) << R"({"model_type": "mixtral", "hidden_size": 64, "intermediate_size": 96,
      "num_hidden_layers": 4, "num_attention_heads": 4, "num_key_value_heads": 2,
      "vocab_size": 256, "num_local_experts": 8, "num_experts_per_tok": 2, "rms_norm_eps": 1e-5,
      "rope_theta": 10000.0, "max_position_embeddings": 512, "tie_word_embeddings": false})";
  const auto server = Serve("server", "127.0.0.1:0");
  const auto agent = StartAgent("a", 4);
  StartSweep(4, 6, 2, "local-cpu", model);
  const auto watch = Watch("watch");
  ASSERT_EQ(watch->WaitWithin(std::chrono::seconds(120)), 0) << watch->err();
  int with_divided_experts = 0;
  const json shown = Show();
  ASSERT_EQ(shown["trials"].size(), 6u);
  for (const json& trial : shown["trials"]) {
    ASSERT_EQ(trial["state"], "ok") << trial["reason"];
    if (trial["layout"].get<std::string>().find(".ep") != std::string::npos) ++with_divided_experts;
    for (const json& rank : trial["measured"]["ranks"]) {
      EXPECT_EQ(rank["peak_bytes"], rank["estimated_bytes"]) << trial["layout"];
      EXPECT_EQ(rank["expert_load"], 1.0) << trial["layout"];
    }
  }
  EXPECT_GT(with_divided_experts, 0);
}

TEST_F(SweepTest, PlansWithWhatTheAgentMeasured) {
  const auto server = Serve("server", "127.0.0.1:0");
  const std::vector<std::string> short_one = {"--benchmark-budget-s", "0.3"};
  auto agent = StartAgent("a", 2, short_one);
  const auto says = [&](const char* what) {
    return WaitFor([&] { return agent->err().find(what) != std::string::npos; });
  };
  ASSERT_TRUE(says("measuring the devices")) << agent->err();
  ASSERT_TRUE(says("connected to")) << agent->err();
  StartSweep(2, 1, 1, "agent:a");
  const auto watch = Watch("watch");
  ASSERT_EQ(watch->WaitWithin(std::chrono::seconds(120)), 0) << watch->err();
  const json shown = Show();
  EXPECT_EQ(shown["sweep"]["state"], "finished");
  EXPECT_NE(shown["sweep"]["cluster"].get<std::string>().find("-cpu2"), std::string::npos);
  agent->Signal(SIGTERM);
  EXPECT_EQ(agent->WaitWithin(std::chrono::seconds(20)), 0);
  // What was measured is kept for the next start, unless the machine was busy beside each
  // benchmark.
  const std::string log = agent->err();
  const std::string busy = "the machine is busy";
  int32_t busy_runs = 0;
  for (size_t at = log.find(busy); at != std::string::npos; at = log.find(busy, at + 1))
    ++busy_runs;
  const bool kept = busy_runs < kMostBenchmarks;
  agent = StartAgent("a", 2, short_one);
  EXPECT_TRUE(says(kept ? "devices as measured on" : "measuring the devices")) << agent->err();
}

TEST_F(SweepTest, AKilledAgentsTrialIsFinishedByAnother) {
  const auto server = Serve("server", "127.0.0.1:0");
  const auto first = StartAgent("a", 2);
  StartSweep(2, 1, 12);
  const auto watch = Watch("watch");
  ASSERT_TRUE(SawStep(*watch)) << watch->err();
  first->Signal(SIGKILL);
  EXPECT_EQ(first->Wait(), 128 + SIGKILL);
  const auto second = StartAgent("b", 2);
  ASSERT_EQ(watch->WaitWithin(std::chrono::seconds(120)), 0) << watch->err();
  const json trial = Show()["trials"][0];
  EXPECT_EQ(trial["state"], "ok") << trial["reason"];
  EXPECT_EQ(trial["attempt"], 2);
  EXPECT_EQ(trial["agent"], "b");
  EXPECT_NE(watch->out().find("agent a vanished"), std::string::npos) << watch->out();
}

// Half-open: the connection stands, and whoever holds its other end stands still.
TEST_F(SweepTest, AConnectionThatNobodyAnswersOnEndsBeforeItsLease) {
  const auto server = Serve("server", "127.0.0.1:0", /*lease_s=*/"600");
  const auto agent = StartAgent("a", 1);
  const auto server_says = [&](const char* what) {
    return WaitFor([&] { return server->err().find(what) != std::string::npos; });
  };
  ASSERT_TRUE(server_says("agent a connected")) << server->err();
  agent->Signal(SIGSTOP);
  EXPECT_TRUE(server_says("agent a lost its connection")) << server->err();
}

TEST_F(SweepTest, AKilledServerTakesUpWhereItWas) {
  auto server = Serve("server", "127.0.0.1:0");
  const std::string address = address_;
  const auto agent = StartAgent("a", 2);
  StartSweep(2, 1, 12);
  const auto watch = Watch("watch");
  ASSERT_TRUE(SawStep(*watch)) << watch->err();
  server->Signal(SIGKILL);
  server->Wait();
  server = Serve("server2", address);
  // The watcher was only interrupted: it takes up the stream where it broke.
  ASSERT_EQ(watch->WaitWithin(std::chrono::seconds(120)), 0) << watch->err();
  const json trial = Show()["trials"][0];
  EXPECT_EQ(trial["state"], "ok") << trial["reason"];
  EXPECT_EQ(trial["attempt"], 1);
}

TEST_F(SweepTest, DetachingAWatchSaysHowToResume) {
  const auto server = Serve("server", "127.0.0.1:0");
  StartSweep(2, 1, 1);
  const auto watch = Start("watch", {"sweep", "watch", "s", "--server", address_});
  ASSERT_TRUE(WaitFor([&] { return watch->out().find("needs 2") != std::string::npos; }));
  watch->Signal(SIGINT);
  EXPECT_EQ(watch->WaitWithin(std::chrono::seconds(20)), 130);
  EXPECT_NE(watch->err().find("meshwright sweep watch s --server " + address_), std::string::npos)
      << watch->err();
  const auto again = Start("again", {"sweep", "watch", "s", "--server", address_});
  ASSERT_TRUE(WaitFor([&] { return again->out().find("needs 2") != std::string::npos; }));
  again->Signal(SIGTERM);
  EXPECT_EQ(again->WaitWithin(std::chrono::seconds(20)), 143);
  EXPECT_NE(again->err().find("detached"), std::string::npos) << again->err();
}

TEST_F(SweepTest, AnAgentThatIsStoppedLeavesNoWorkers) {
  const auto server = Serve("server", "127.0.0.1:0");
  StartSweep(2, 1, 1000);
  int attempt = 1;
  for (const auto& [signal, exit_code] : {std::pair(SIGINT, 130), std::pair(SIGTERM, 0)}) {
    const auto agent = StartAgent("a", 2);
    const auto watch = Watch("watch-" + std::to_string(attempt));
    ASSERT_TRUE(SawStep(*watch, attempt)) << watch->err();
    agent->Signal(signal);
    EXPECT_EQ(agent->WaitWithin(std::chrono::seconds(20)), exit_code) << agent->err();
    EXPECT_TRUE(WaitFor([&] { return Show()["trials"][0]["state"] == "pending"; }));
    EXPECT_EQ(Show()["trials"][0]["attempt"], ++attempt);
  }
}

TEST_F(SweepTest, ATrialThatIsStoppedLeavesNoWorkers) {
  for (const auto& [signal, exit_code] : {std::pair(SIGINT, 130), std::pair(SIGTERM, 143)}) {
    const auto trial =
        Start("trial-" + std::to_string(signal),
              {"trial", "--model", "tinystories-15m", "--layout", "tp1.pp2.dp1.mb2", "--seq-len",
               "64", "--global-batch", "4", "--devices", "cpu:2", "--steps", "100000"});
    ASSERT_TRUE(WaitFor([&] { return trial->err().find("steps") != std::string::npos; }));
    trial->Signal(signal);
    EXPECT_EQ(trial->WaitWithin(std::chrono::seconds(20)), exit_code) << trial->err();
    EXPECT_NE(trial->out().find("cancelled"), std::string::npos) << trial->out();
  }
}

}  // namespace
}  // namespace meshwright::cli
