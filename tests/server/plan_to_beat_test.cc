#include "server/plan_to_beat.h"

#include "gtest/gtest.h"

namespace meshwright::server {
namespace {

TEST(PlanToBeatTest, TellsAnAdaptiveTrialTheShortestStep) {
  EXPECT_EQ(PlanToBeat(R"({"adaptive":true})", 0.5), R"({"adaptive":true,"beat_step_s":0.5})");
  EXPECT_EQ(PlanToBeat(R"({"adaptive":true})", std::nullopt), R"({"adaptive":true})");
}

TEST(PlanToBeatTest, LeavesOtherPlansAsTheyAre) {
  for (const char* text : {R"({"adaptive":false})", "{}", "[]", "no plan"}) {
    EXPECT_EQ(PlanToBeat(text, 0.5), text);
  }
}

}  // namespace
}  // namespace meshwright::server
