#include "planner/measurement/unsaid_choices.h"

#include <gtest/gtest.h>

#include "planner/estimate/estimate.h"
#include "planner/measurement/planned_row.h"
#include "planner/search/search.h"
#include "tests/planner/measurement/invented_row.h"

namespace meshwright::planner {
namespace {

// A row whose activations fill several devices.
Measurement TooLarge() {
  Measurement row = InventedRow();
  row.mbs = row.gbs = 256;
  row.gpus = row.dp = row.tp = row.pp = 1;
  row.seq_parallel = "0";
  row.act_ckpt = "";
  return row;
}

double OomProbability(const RowPlan& plan) {
  return EstimateLayout(plan.row->context(), *plan.layout).oom_probability;
}

TEST(UnsaidChoices, RecomputeThatTheSourceDoesNotStateIsTheLeastThatFits) {
  const RowPlan plan = PlanRow(TooLarge(), ShippedPresets());
  ASSERT_TRUE(plan.layout) << plan.reason;
  EXPECT_NE(plan.layout->recompute, Recompute::kNone);
  EXPECT_LT(OomProbability(plan), kLikelyProbability);
}

TEST(UnsaidChoices, StatedRecomputeStays) {
  Measurement row = TooLarge();
  row.act_ckpt = "none";
  const RowPlan plan = PlanRow(row, ShippedPresets());
  ASSERT_TRUE(plan.layout) << plan.reason;
  EXPECT_EQ(plan.layout->recompute, Recompute::kNone);
  EXPECT_GT(OomProbability(plan), kLikelyProbability);
}

TEST(UnsaidChoices, NothingIsRecomputedWhereTheRunFitsWithout) {
  Measurement row = TooLarge();
  row.mbs = row.gbs = 1;
  const RowPlan plan = PlanRow(row, ShippedPresets());
  ASSERT_TRUE(plan.layout) << plan.reason;
  EXPECT_EQ(plan.layout->recompute, Recompute::kNone);
}

TEST(UnsaidChoices, OffloadThatTheNotesStateTakesThePlaceOfRecompute) {
  Measurement row = TooLarge();
  row.notes = "offload=act:8";
  row.framework = "nemo";
  const RowPlan plan = PlanRow(row, ShippedPresets());
  ASSERT_TRUE(plan.layout) << plan.reason;
  EXPECT_EQ(plan.layout->offload.activation_layers, 8);
  EXPECT_EQ(plan.layout->recompute, Recompute::kNone);
}

}  // namespace
}  // namespace meshwright::planner
