#include <gtest/gtest.h>

#include "executor/trial/trial.h"
#include "planner/spec/cluster_spec.h"

namespace meshwright::trial {
namespace {

TEST(RanksAtOnce, AreAllThatTheHostHas) {
  TrialPlan plan;
  plan.layout = {.tp = 2, .pp = 2, .dp = 2};
  EXPECT_EQ(RanksAtOnce(plan, 8), 8);
  EXPECT_EQ(planner::ThreadsPerRank(16, RanksAtOnce(plan, 8)), 2);
  EXPECT_EQ(planner::ThreadsPerRank(4, RanksAtOnce(plan, 8)), 1);
  // Of two hosts that share them.
  EXPECT_EQ(planner::ThreadsPerRank(16, RanksAtOnce(plan, 4)), 4);
}

TEST(RanksAtOnce, ASliceOfThousandsHasAllCores) {
  TrialPlan plan;
  plan.layout = {.tp = 8, .pp = 8, .dp = 64};
  plan.slice = true;
  EXPECT_EQ(RanksAtOnce(plan, 1), 1);
  EXPECT_EQ(planner::ThreadsPerRank(16, RanksAtOnce(plan, 1)), 16);
}

}  // namespace
}  // namespace meshwright::trial
