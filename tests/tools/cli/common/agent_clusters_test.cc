// Clusters named after a server's agents: --cluster agent:NAME, and the list of agents.
#include "tools/cli/common/agent_clusters.h"

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>

#include "nlohmann/json.hpp"
#include "planner/catalog/catalog.h"
#include "tests/server/server_fixture.h"
#include "tests/tools/command_runner.h"

namespace meshwright::cli {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::Not;

trial::TrialResult NeverRuns(const trial::TrialPlan&, const trial::TrialRunnerOptions&) {
  return {};
}

std::string MeasuredCluster() {
  planner::ClusterSpec cluster = planner::FindCluster("local-cpu", 2).value();
  cluster.name = "node7-cpu4";
  cluster.device.peak_fp32_flops = 98.25e9;
  cluster.fingerprint.machine.host_cpu = "Some Processor";
  return planner::ClusterToJson(cluster);
}

class AgentClustersTest : public server::ServerFixture {
 protected:
  void SetUp() override {
    server::ServerFixture::SetUp();
    measured_ = std::make_unique<server::TestAgent>(server_->address(), "measured", NeverRuns, "",
                                                    MeasuredCluster());
    plain_ = std::make_unique<server::TestAgent>(server_->address(), "plain", NeverRuns);
    AwaitAgents(2);
  }
  void TearDown() override {
    measured_.reset();
    plain_.reset();
    server::ServerFixture::TearDown();
  }

  CommandOutput Recommend(const std::string& cluster, bool with_server = true) {
    std::vector<std::string> arguments = {
        "recommend", "--model",     "tinystories-15m", "--cluster", cluster,
        "--gpus",    "4",           "--seq-len",       "256",       "--global-batch",
        "8",         "--framework", "meshwright",      "--format",  "json"};
    if (with_server) arguments.insert(arguments.end(), {"--server", server_->address()});
    return RunCommand(arguments);
  }

  std::unique_ptr<server::TestAgent> measured_;
  std::unique_ptr<server::TestAgent> plain_;
};

TEST_F(AgentClustersTest, PlansWithWhatTheAgentMeasured) {
  const CommandOutput by_agent = Recommend("agent:measured");
  ASSERT_EQ(by_agent.exit_code, 0) << by_agent.err;
  const std::string file = folder_ + "/node7.json";
  std::ofstream(file) << MeasuredCluster();
  const CommandOutput by_file = Recommend(file, /*with_server=*/false);
  ASSERT_EQ(by_file.exit_code, 0) << by_file.err;
  EXPECT_EQ(json::parse(by_agent.out)["layouts"], json::parse(by_file.out)["layouts"]);
  EXPECT_EQ(json::parse(by_agent.out)["request"]["cluster"], "agent:measured");
  // Clusters of processor cores are planned in fp32 unless another type is asked for.
  EXPECT_EQ(json::parse(by_agent.out)["request"]["dtype"], "fp32");
  EXPECT_EQ(json::parse(by_file.out)["request"]["dtype"], "fp32");
}

TEST_F(AgentClustersTest, AMeasuredFileOfAnotherMachineIsWarnedOf) {
  planner::ClusterSpec other = planner::ClusterFromJson(MeasuredCluster(), 2).value();
  other.fingerprint.machine.host_cpu = "Another Processor";
  const std::string file = folder_ + "/other.json";
  std::ofstream(file) << planner::ClusterToJson(other);
  EXPECT_THAT(Recommend(file).err,
              HasSubstr("warning: agent measured differs from the machine on which node7-cpu4 was "
                        "measured: processor Some Processor where Another Processor was measured"));
  EXPECT_THAT(Recommend(file, /*with_server=*/false).err, Not(HasSubstr("warning")));
  EXPECT_THAT(Recommend("agent:measured").err, Not(HasSubstr("warning")));
}

TEST_F(AgentClustersTest, SweepsTakeAgentsToo) {
  const CommandOutput sweep =
      RunCommand({"sweep", "start", "--server", server_->address(), "--model", "tinystories-15m",
                  "--cluster", "agent:measured", "--gpus", "4", "--seq-len", "64", "--global-batch",
                  "8", "--trials", "1", "--format", "json"});
  ASSERT_EQ(sweep.exit_code, 0) << sweep.err;
  EXPECT_EQ(json::parse(sweep.out)["cluster"], "node7-cpu4");
  EXPECT_EQ(json::parse(sweep.out)["dtype"], "fp32");
}

TEST_F(AgentClustersTest, SweepsHaveTheNotesOfARecommendation) {
  std::vector<std::string> arguments = {
      "sweep",          "start",        "--server",  server_->address(),
      "--model",        "llama-3.2-1b", "--cluster", "h100",
      "--gpus",         "12",           "--seq-len", "4096",
      "--global-batch", "96",           "--trials",  "1"};
  const CommandOutput text = RunCommand(arguments);
  ASSERT_EQ(text.exit_code, 0) << text.err;
  EXPECT_THAT(text.out, HasSubstr("note: 12 devices fill nodes of 8 only partly"));
  arguments.insert(arguments.end(), {"--format", "json"});
  // Behind them stands for which framework the layouts were chosen.
  const json notes = json::parse(RunCommand(arguments).out)["notes"];
  ASSERT_EQ(notes.size(), 2u);
  EXPECT_THAT(notes[0].get<std::string>(), HasSubstr("12 devices fill nodes of 8 only partly"));
}

TEST_F(AgentClustersTest, AnUnknownAgentOrOneThatDidNotMeasureIsBadInput) {
  CommandOutput run = Recommend("agent:measure");
  EXPECT_EQ(run.exit_code, 2);
  EXPECT_THAT(run.err, HasSubstr("agent 'measure' is not known; nearest: measured\n"));
  EXPECT_EQ(json::parse(run.out)["error"]["field"], "cluster");
  run = Recommend("agent:plain");
  EXPECT_EQ(run.exit_code, 2);
  EXPECT_THAT(run.err, HasSubstr("agent:plain: this agent has not measured its devices"));
  run = Recommend("agent:measured", /*with_server=*/false);
  EXPECT_EQ(run.exit_code, 2);
  EXPECT_THAT(run.err, HasSubstr("--server HOST:PORT"));
}

TEST_F(AgentClustersTest, ListsAgentsWithWhatTheyReach) {
  CommandOutput run = RunCommand({"list", "agents", "--server", server_->address()});
  ASSERT_EQ(run.exit_code, 0) << run.err;
  EXPECT_THAT(run.out, HasSubstr("98.2 GFLOP/s fp32"));
  EXPECT_THAT(run.out, HasSubstr("cpu:4"));
  run = RunCommand({"list", "agents", "--server", server_->address(), "--format", "json"});
  const json agents = json::parse(run.out)["agents"];
  ASSERT_EQ(agents.size(), 2u);
  EXPECT_EQ(agents[0]["name"], "measured");
  EXPECT_EQ(agents[0]["cluster"]["name"], "node7-cpu4");
  EXPECT_TRUE(agents[1]["cluster"].is_null());
  EXPECT_TRUE(agents[1]["running"].is_null());
}

TEST(PrintAgents, TellsALostAgentAndWhenItWasLastHeard) {
  v1::Agent agent;
  agent.set_name("node-3");
  agent.set_host("node-3.example");
  agent.set_state(v1::AGENT_STATE_LOST);
  agent.mutable_last_heard_time()->set_seconds(1'700'000'000);
  std::ostringstream text;
  PrintAgents({agent}, OutputFormat::kText, text);
  EXPECT_THAT(text.str(), HasSubstr("lost: last heard 2023-11-14T22:13:20.000Z"));
  std::ostringstream written;
  PrintAgents({agent}, OutputFormat::kJson, written);
  const json listed = json::parse(written.str())["agents"][0];
  EXPECT_EQ(listed["state"], "lost");
  EXPECT_EQ(listed["last_heard_time"], "2023-11-14T22:13:20.000Z");
}

TEST(ClusterOfAgent, SaysThatThereAreNone) {
  const auto cluster = ClusterOfAgent({}, "agent:x");
  EXPECT_TRUE(absl::IsNotFound(cluster.status()));
  EXPECT_THAT(std::string(cluster.status().message()), HasSubstr("no agent is connected"));
}

}  // namespace
}  // namespace meshwright::cli
