#include "server/sweeps/with_target_step.h"

#include "gtest/gtest.h"

namespace meshwright::server {
namespace {

TEST(WithTargetStepTest, TellsAnAdaptiveTrialTheShortestStep) {
  EXPECT_EQ(WithTargetStep(R"({"adaptive":true})", 0.5), R"({"adaptive":true,"beat_step_s":0.5})");
  EXPECT_EQ(WithTargetStep(R"({"adaptive":true})", std::nullopt), R"({"adaptive":true})");
}

TEST(WithTargetStepTest, LeavesOtherPlansAsTheyAre) {
  for (const char* text : {R"({"adaptive":false})", "{}", "[]", "no plan"}) {
    EXPECT_EQ(WithTargetStep(text, 0.5), text);
  }
}

}  // namespace
}  // namespace meshwright::server
