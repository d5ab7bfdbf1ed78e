#include "planner/policy/trial_point.h"

#include <gtest/gtest.h>

namespace meshwright::planner {
namespace {

double Distance2(std::string_view a, std::string_view b) {
  return SquaredDistance(PointOf(*ParseLayout(a)), PointOf(*ParseLayout(b)));
}

TEST(TrialPoint, AFactorOfTwoOnAnAxisIsOne) {
  EXPECT_DOUBLE_EQ(Distance2("tp2.pp2.dp4", "tp2.pp2.dp4.mb2"), 1.0);
  EXPECT_DOUBLE_EQ(Distance2("tp2.pp2.dp4", "tp2.pp2.dp4.mb8"), 9.0);
  EXPECT_DOUBLE_EQ(Distance2("tp2.pp2.dp4", "tp4.pp2.dp2"), 2.0);
}

TEST(TrialPoint, AnyOtherWordASwitchAndAStageOfZeroAreHalf) {
  const char* plain = "tp2.pp2.dp4.mb1.vpp1.zero1.sp0.rc=none.sched=1f1b";
  EXPECT_NEAR(Distance2(plain, "tp2.pp2.dp4.mb1.vpp1.zero1.sp0.rc=full.sched=1f1b"), 0.25, 1e-12);
  EXPECT_NEAR(Distance2(plain, "tp2.pp2.dp4.mb1.vpp1.zero1.sp0.rc=selective.sched=1f1b"), 0.25,
              1e-12);
  EXPECT_NEAR(Distance2("tp2.pp2.dp4.mb1.vpp1.zero1.sp0.rc=full.sched=1f1b",
                        "tp2.pp2.dp4.mb1.vpp1.zero1.sp0.rc=selective.sched=gpipe"),
              0.5, 1e-12);
  EXPECT_DOUBLE_EQ(Distance2(plain, "tp2.pp2.dp4.mb1.vpp1.zero1.sp1.rc=none.sched=1f1b"), 0.25);
  EXPECT_DOUBLE_EQ(Distance2(plain, "tp2.pp2.dp4.mb1.vpp1.zero3.sp0.rc=none.sched=1f1b"), 1.0);
}

TEST(TrialPoint, ALayoutIsNearestToItself) {
  EXPECT_EQ(Distance2("tp2.pp2.dp4.mb1", "tp2.pp2.dp4.mb1"), 0.0);
}

}  // namespace
}  // namespace meshwright::planner
