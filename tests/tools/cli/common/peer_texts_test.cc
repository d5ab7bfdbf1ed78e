#include "tools/cli/common/peer_texts.h"

#include "gtest/gtest.h"
#include "meshwright/v1/agents.pb.h"
#include "meshwright/v1/sweeps.pb.h"

namespace meshwright::cli {
namespace {

TEST(EscapeTexts, EscapesNamesAtAnyDepth) {
  v1::ListAgentsResponse response;
  v1::Agent& agent = *response.add_agents();
  agent.set_name("a");
  agent.set_host("node\x1b[2J\nnode-2");
  EscapeTexts(response);
  EXPECT_EQ(response.agents(0).name(), "a");
  EXPECT_EQ(response.agents(0).host(), "node\\x1b[2J\\nnode-2");
}

TEST(EscapeTexts, LeavesTheLinesOfMessages) {
  v1::Trial trial;
  trial.set_reason("first \x07line\nsecond");
  trial.mutable_measured()->set_message("a\n\x1b]0;title\x07");
  EscapeTexts(trial);
  EXPECT_EQ(trial.reason(), "first \\x07line\nsecond");
  EXPECT_EQ(trial.measured().message(), "a\n\\x1b]0;title\\x07");
}

TEST(EscapeTexts, LeavesJson) {
  v1::Sweep sweep;
  sweep.set_cluster_json("{\n\t\"name\": 1}");
  EscapeTexts(sweep);
  EXPECT_EQ(sweep.cluster_json(), "{\n\t\"name\": 1}");
}

}  // namespace
}  // namespace meshwright::cli
