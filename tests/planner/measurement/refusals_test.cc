#include "planner/measurement/refusals.h"

#include <gtest/gtest.h>

#include "planner/measurement/planned_row.h"

namespace meshwright::planner {
namespace {

RowPrediction Refused(const std::string& subject, const std::string& reason) {
  RowPrediction row;
  row.subject = subject;
  row.reason = reason;
  return row;
}

TEST(CountRefusals, GroupsRowsByCauseTheCommonestFirst) {
  std::vector<RowPrediction> rows = {
      Refused("batch_division", "global batch 15 is not a multiple of dp * micro-batch = 2"),
      Refused("gpu", "gpu = X1: no cluster preset for this GPU"),
      Refused("gpu", "gpu = X2: no cluster preset for this GPU"),
      Refused("gpu", "gpu = X2: no cluster preset for this GPU"),
      Refused(std::string(kUnreadable), "line 9 tp = x: must be a whole number or empty"),
      RowPrediction{}};
  rows[4].file = "a.csv";
  rows[4].line = 9;
  const Refusals refusals = CountRefusals(rows);
  ASSERT_EQ(refusals.not_modelled.size(), 2u);
  const Refusal& gpus = refusals.not_modelled[0];
  EXPECT_EQ(gpus.cause, "gpu: no cluster preset for this GPU");
  EXPECT_EQ(gpus.rows, 3);
  EXPECT_FALSE(gpus.is_rule);
  ASSERT_EQ(gpus.values.size(), 2u);
  EXPECT_EQ(gpus.values[0], (std::pair<std::string, int64_t>("X2", 2)));
  EXPECT_TRUE(refusals.not_modelled[1].is_rule);
  EXPECT_EQ(refusals.not_modelled[1].cause, "batch_division");
  ASSERT_EQ(refusals.unreadable.size(), 1u);
  EXPECT_EQ(refusals.unreadable[0].file, "a.csv");
  EXPECT_EQ(refusals.unreadable[0].line, 9);
}

}  // namespace
}  // namespace meshwright::planner
