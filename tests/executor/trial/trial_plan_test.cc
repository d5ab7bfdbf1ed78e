#include <gtest/gtest.h>

#include "executor/trial/trial.h"
#include "planner/spec/cluster_spec.h"

namespace meshwright::trial {
namespace {

TEST(RanksAtOnce, AreAllOfATrial) {
  TrialPlan plan;
  plan.layout = {.tp = 2, .pp = 2, .dp = 2};
  EXPECT_EQ(RanksAtOnce(plan), 8);
  EXPECT_EQ(planner::ThreadsPerRank(16, RanksAtOnce(plan)), 2);
  EXPECT_EQ(planner::ThreadsPerRank(4, RanksAtOnce(plan)), 1);
}

TEST(RanksAtOnce, ASliceOfThousandsHasAllCores) {
  TrialPlan plan;
  plan.layout = {.tp = 8, .pp = 8, .dp = 64};
  plan.slice = true;
  EXPECT_EQ(RanksAtOnce(plan), 1);
  EXPECT_EQ(planner::ThreadsPerRank(16, RanksAtOnce(plan)), 16);
}

}  // namespace
}  // namespace meshwright::trial
