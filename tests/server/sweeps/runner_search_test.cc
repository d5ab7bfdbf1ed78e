#include "server/sweeps/runner_search.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace meshwright::server {
namespace {

using ::testing::HasSubstr;

AgentStatus AgentWith(const std::string& name, const std::vector<wire::RunnerOffer>& runners) {
  AgentStatus agent;
  agent.info.name = name;
  agent.info.runners = runners;
  return agent;
}

wire::RunnerOffer Offer(const std::string& name, char digit) {
  return {.name = name, .hash = std::string(64, digit), .framework = "megatron", .export_to = ""};
}

TEST(RunnerSearchTest, TheSameFileMayBeOnSeveralAgents) {
  const auto found = FindOffer(
      {AgentWith("a", {Offer("r", '1'), Offer("x", '2')}), AgentWith("b", {Offer("r", '1')})}, "r");
  ASSERT_TRUE(found.ok()) << found.status();
  EXPECT_EQ(found->hash, std::string(64, '1'));
}

TEST(RunnerSearchTest, ARunnerThatNoAgentHasIsNotFound) {
  const absl::Status status =
      FindOffer({AgentWith("a", {Offer("x", '2')}), AgentWith("b", {})}, "r").status();
  EXPECT_EQ(status.code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(status.message(), HasSubstr("the agents have x"));
  EXPECT_THAT(FindOffer({}, "r").status().message(), HasSubstr("agent --runner NAME=FILE"));
}

TEST(RunnerSearchTest, ALostAgentHasNoRunnerToOffer) {
  AgentStatus lost = AgentWith("a", {Offer("r", '1')});
  lost.lost = true;
  EXPECT_EQ(FindOffer({lost}, "r").status().code(), absl::StatusCode::kNotFound);
  EXPECT_TRUE(FindOffer({lost, AgentWith("b", {Offer("r", '2')})}, "r").ok());
}

TEST(RunnerSearchTest, TwoFilesOfOneNameAreRefused) {
  const absl::Status status =
      FindOffer({AgentWith("a", {Offer("r", '1')}), AgentWith("b", {Offer("r", '2')})}, "r")
          .status();
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(status.message(), HasSubstr("the agents a and b have different files"));
}

}  // namespace
}  // namespace meshwright::server
