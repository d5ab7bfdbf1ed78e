// Agents as processes: who may be one, how they end, what they log. The worker is a script that
// knows its version; no trial runs.
#include <sys/stat.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <regex>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "gmock/gmock.h"
#include "nlohmann/json.hpp"
#include "tests/e2e/process.h"

namespace meshwright::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

class AgentTest : public BinaryTest {
 protected:
  void SetUp() override {
    BinaryTest::SetUp();
    worker_ = folder_ + "/worker";
    std::ofstream(worker_) << "#!/bin/sh\necho " MESHWRIGHT_VERSION "\n";
    ASSERT_EQ(chmod(worker_.c_str(), 0700), 0);
  }
  std::unique_ptr<Process> StartAgent(const std::string& log, const std::string& name,
                                      const std::string& state,
                                      const std::vector<std::string>& more = {}) {
    std::vector<std::string> words = {"agent",     "--server",    address_,
                                      "--devices", "cpu:1",       "--name",
                                      name,        "--state-dir", folder_ + "/" + state,
                                      "--worker",  worker_,       "--no-benchmark"};
    words.insert(words.end(), more.begin(), more.end());
    return Start(log, words);
  }
  // Sweep s, of one trial: its cluster file promises ranks more memory than there is, so that an
  // agent ends it without workers.
  void StartSweepTooLargeForTheHost() {
    const char* source = std::getenv("MESHWRIGHT_SOURCE_DIR");
    ASSERT_NE(source, nullptr);
    nlohmann::json cluster = nlohmann::json::parse(
        ReadFile(std::string(source) + "/planner/data/clusters/local-cpu.json"));
    cluster["device"]["memory_bytes"] = int64_t{1} << 50;
    std::ofstream(folder_ + "/huge.json") << cluster;
    const auto start =
        Start("start", {"sweep", "start", "--server", address_, "--name", "s", "--model",
                        "llama-3-405b", "--cluster", folder_ + "/huge.json", "--gpus", "1",
                        "--seq-len", "4096", "--global-batch", "8", "--trials", "1"});
    ASSERT_EQ(start->WaitWithin(std::chrono::seconds(60)), 0) << start->err();
  }
  static bool Connected(const Process& agent) {
    return WaitFor([&] { return agent.err().find("connected to") != std::string::npos; });
  }

  std::string worker_;
};

TEST_F(AgentTest, AStateFolderIsOneAgents) {
  const auto server = Serve("server", "127.0.0.1:0");
  const auto first = StartAgent("first", "a", "state");
  ASSERT_TRUE(Connected(*first)) << first->err();
  const auto second = StartAgent("second", "b", "state");
  EXPECT_EQ(second->WaitWithin(std::chrono::seconds(20)), 1) << second->err();
  EXPECT_THAT(second->err(),
              HasSubstr("is in use by agent a (process " + std::to_string(first->pid()) + ")"));
}

TEST_F(AgentTest, ADuplicateOfALivingAgentEndsWithAnError) {
  const auto server = Serve("server", "127.0.0.1:0");
  const auto first = StartAgent("first", "a", "state-1");
  ASSERT_TRUE(Connected(*first)) << first->err();
  const auto second = StartAgent("second", "a", "state-2");
  EXPECT_EQ(second->WaitWithin(std::chrono::seconds(20)), 2) << second->err();
  EXPECT_THAT(second->err(), HasSubstr("an agent named \"a\" is already connected"));
  EXPECT_TRUE(first->running());
}

// A connection that the server never hears the end of: its agent stands still.
TEST_F(AgentTest, AnAgentThatIsStartedAnewWaitsForItsPlace) {
  const auto server = Serve("server", "127.0.0.1:0");
  const auto first = StartAgent("first", "a", "state");
  ASSERT_TRUE(Connected(*first)) << first->err();
  first->Signal(SIGSTOP);
  // As where the lock is lost with the machine, and the folder is not.
  std::filesystem::copy(folder_ + "/state", folder_ + "/again");
  const auto second = StartAgent("second", "a", "again");
  EXPECT_TRUE(WaitFor([&] { return second->err().find("can't register yet") != std::string::npos; }))
      << second->err();
  EXPECT_TRUE(Connected(*second)) << second->err();
}

TEST_F(AgentTest, AWorkerOfAnotherVersionIsRefused) {
  std::ofstream(worker_) << "#!/bin/sh\necho 0.0.1\n";
  address_ = "127.0.0.1:1";
  const auto agent = StartAgent("agent", "a", "state");
  EXPECT_EQ(agent->WaitWithin(std::chrono::seconds(20)), 2) << agent->err();
  EXPECT_THAT(agent->err(), HasSubstr("is a worker of version 0.0.1, and this program is of "
                                      "version " MESHWRIGHT_VERSION));
}

TEST_F(AgentTest, ATrialThatTheHostHasNoMemoryForFailsWithoutWorkers) {
  const auto server = Serve("server", "127.0.0.1:0");
  ASSERT_NO_FATAL_FAILURE(StartSweepTooLargeForTheHost());
  const auto agent = StartAgent("agent", "a", "state");
  const auto watch = Start("watch", {"sweep", "watch", "s", "--server", address_});
  EXPECT_TRUE(watch->WaitWithin(std::chrono::seconds(60)).has_value()) << watch->out();
  EXPECT_THAT(watch->out(), HasSubstr("failed, 1 rank would take"));
  EXPECT_THAT(watch->out(), HasSubstr("are available ("));
}

TEST_F(AgentTest, CtrlCAndSigtermEndServerAndAgentInOrder) {
  for (const auto& [signal, of_agent] : {std::pair(SIGINT, 130), std::pair(SIGTERM, 0)}) {
    const std::string by = std::to_string(signal);
    const auto server = Serve("server-" + by, "127.0.0.1:0");
    const auto agent = StartAgent("agent-" + by, "a", "state");
    ASSERT_TRUE(Connected(*agent)) << agent->err();
    agent->Signal(signal);
    EXPECT_EQ(agent->WaitWithin(std::chrono::seconds(20)), of_agent) << agent->err();
    EXPECT_TRUE(WaitFor([&] {
      return server->err().find("agent a left: it was stopped") != std::string::npos;
    })) << server->err();
    server->Signal(signal);
    EXPECT_EQ(server->WaitWithin(std::chrono::seconds(20)), 0) << server->err();
  }
}

TEST_F(AgentTest, ADrainedAgentGetsNothingUntilItIsResumed) {
  const auto server = Serve("server", "127.0.0.1:0");
  const auto agent = StartAgent("agent", "a", "state");
  ASSERT_TRUE(Connected(*agent)) << agent->err();
  const auto run = [&](const std::string& action, const std::string& name) {
    std::vector<std::string> words = {"agents", action, "--server", address_};
    if (!name.empty()) words.insert(words.begin() + 2, name);
    auto process = Start(action + name, words);
    const std::optional<int> code = process->WaitWithin(std::chrono::seconds(20));
    return std::pair(code, process->out() + process->err());
  };
  EXPECT_EQ(run("drain", "a"), std::pair(std::optional(0), std::string("agent a finishes what it "
                                                                       "runs and gets nothing "
                                                                       "new\n")));
  EXPECT_THAT(run("list", "").second, HasSubstr("-, drained"));
  EXPECT_EQ(run("resume", "a").first, 0);
  EXPECT_THAT(run("list", "").second, Not(HasSubstr("drained")));
  const auto unknown = run("drain", "b");
  EXPECT_NE(unknown.first, 0);
  EXPECT_THAT(unknown.second, HasSubstr("no agent named \"b\" is connected"));
}

TEST_F(AgentTest, AnAgentHasAStateFolderForEachServer) {
  const auto server = Serve("server", "127.0.0.1:0");
  setenv("XDG_STATE_HOME", (folder_ + "/home").c_str(), 1);
  const auto agent = Start("agent", {"agent", "--server", address_, "--devices", "cpu:1", "--name",
                                     "a", "--worker", worker_, "--no-benchmark"});
  unsetenv("XDG_STATE_HOME");
  ASSERT_TRUE(Connected(*agent)) << agent->err();
  std::string server_name = address_;
  std::replace(server_name.begin(), server_name.end(), ':', '_');
  EXPECT_TRUE(
      std::filesystem::exists(folder_ + "/home/meshwright/agents/a@" + server_name + "/identity"));
}

TEST_F(AgentTest, EveryLineOfALogHasATimeAndALevel) {
  const auto server = Serve("server", "127.0.0.1:0");
  const auto agent = StartAgent("agent", "a", "state");
  ASSERT_TRUE(Connected(*agent)) << agent->err();
  agent->Signal(SIGTERM);
  agent->Wait();
  EXPECT_TRUE(WaitFor([&] { return server->err().find("left") != std::string::npos; }));
  const std::regex line(R"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z (error|warning|info|debug) .+)");
  std::istringstream lines(server->err() + agent->err());
  for (std::string text; std::getline(lines, text);) {
    EXPECT_TRUE(std::regex_match(text, line)) << text;
  }
}

// The lines of a log in JSON, each of which has to be one object with what every line has.
std::vector<nlohmann::json> JsonLines(const std::string& log) {
  const std::regex time(R"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z)");
  const std::regex level("error|warning|info|debug");
  std::vector<nlohmann::json> entries;
  std::istringstream lines(log);
  for (std::string line; std::getline(lines, line);) {
    nlohmann::json entry = nlohmann::json::parse(line, nullptr, /*allow_exceptions=*/false);
    EXPECT_TRUE(entry.is_object()) << line;
    if (!entry.is_object()) continue;
    EXPECT_TRUE(std::regex_match(entry.value("time", ""), time)) << line;
    EXPECT_TRUE(std::regex_match(entry.value("level", ""), level)) << line;
    EXPECT_NE(entry.value("message", ""), "") << line;
    entries.push_back(std::move(entry));
  }
  return entries;
}

TEST_F(AgentTest, ATrialIsFollowedByItsIdsThroughBothLogs) {
  const std::vector<std::string> all_in_json = {"--log-format", "json", "--log-level", "debug"};
  const auto server = Serve("server", "127.0.0.1:0", "6", all_in_json);
  ASSERT_NO_FATAL_FAILURE(StartSweepTooLargeForTheHost());
  const auto agent = StartAgent("agent", "a", "state", all_in_json);
  const auto watch = Start("watch", {"sweep", "watch", "s", "--server", address_});
  EXPECT_TRUE(watch->WaitWithin(std::chrono::seconds(60)).has_value()) << watch->out();
  agent->Signal(SIGTERM);
  EXPECT_EQ(agent->WaitWithin(std::chrono::seconds(20)), 0) << agent->err();
  server->Signal(SIGTERM);
  EXPECT_EQ(server->WaitWithin(std::chrono::seconds(20)), 0) << server->err();
  const auto of_the_trial = [](const Process& process) {
    std::vector<std::string> messages;
    for (const nlohmann::json& entry : JsonLines(process.err())) {
      if (entry.value("sweep", "") == "s" && entry.value("trial", 0) == 1 &&
          entry.value("attempt", 0) == 1 && entry.value("agent", "") == "a") {
        messages.push_back(entry["message"]);
      }
    }
    return messages;
  };
  EXPECT_THAT(of_the_trial(*server), ElementsAre("the trial goes to agent a",
                                                 HasSubstr("agent a has the result failed: ")));
  EXPECT_THAT(of_the_trial(*agent),
              ElementsAre(HasSubstr("runs tp1."), HasSubstr("ended: failed, 1 rank would take"),
                          "the server has the result"));
  EXPECT_EQ(JsonLines(server->err()).back().value("agent", ""), "a");
}

}  // namespace
}  // namespace meshwright::cli
