#include "server/engine/lost_agents.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "tests/server/engine/engine_records.h"

namespace meshwright::server {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

MonotonicTime At(absl::Duration since_start) { return {since_start}; }

LostAgent Lost(const std::string& name, absl::Duration when) {
  return {.info = CpuAgent(name, 1), .last_heard = At(when - absl::Seconds(5)), .lost = At(when)};
}

std::vector<std::string> NamesAt(const LostAgents& agents, absl::Duration now) {
  std::vector<std::string> names;
  for (const LostAgent& agent : agents.At(At(now))) names.push_back(agent.info.name);
  return names;
}

TEST(LostAgents, AreKeptForADay) {
  LostAgents agents;
  agents.Add(Lost("b", absl::Hours(1)));
  agents.Add(Lost("a", absl::Hours(2)));
  EXPECT_THAT(NamesAt(agents, absl::Hours(3)), ElementsAre("a", "b"));
  EXPECT_THAT(NamesAt(agents, absl::Hours(25)), ElementsAre("a"));
  EXPECT_THAT(NamesAt(agents, absl::Hours(26)), IsEmpty());
}

TEST(LostAgents, ThatAreLostAgainHaveTheLaterTime) {
  LostAgents agents;
  agents.Add(Lost("a", absl::Hours(1)));
  agents.Add(Lost("a", absl::Hours(2)));
  ASSERT_EQ(agents.At(At(absl::Hours(3))).size(), 1u);
  EXPECT_EQ(agents.At(At(absl::Hours(3)))[0].lost, At(absl::Hours(2)));
}

TEST(LostAgents, OfTooManyForgetTheFirst) {
  LostAgents agents;
  for (size_t i = 0; i <= kMostLostAgents; ++i) {
    agents.Add(Lost(absl::StrCat("node-", i), absl::Seconds(i)));
  }
  EXPECT_EQ(agents.At(At(absl::Hours(1))).size(), kMostLostAgents);
  EXPECT_FALSE(agents.Has("node-0"));
  EXPECT_TRUE(agents.Has("node-1"));
}

TEST(LostAgents, ThatComeBackAreForgotten) {
  LostAgents agents;
  agents.Add(Lost("a", absl::Hours(1)));
  agents.Forget("a");
  EXPECT_THAT(NamesAt(agents, absl::Hours(1)), IsEmpty());
}

}  // namespace
}  // namespace meshwright::server
