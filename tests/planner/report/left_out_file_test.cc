#include "planner/report/left_out_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

#include "planner/estimate/step_interval.h"

namespace meshwright::planner {
namespace {

TEST(LeftOutFiles, EveryFileHasItsRunsByLevelAndErrorsThatAreFractions) {
  const std::vector<LeftOutFile> files = LeftOutFiles();
  ASSERT_GE(files.size(), 10U);
  for (const LeftOutFile& file : files) {
    SCOPED_TRACE(file.name);
    int64_t rows = 0;
    for (const LevelShare& share : file.levels) {
      rows += share.rows;
      EXPECT_TRUE(meshwright::KindOf(kEvidenceLevelNames, "level", share.level).ok());
      EXPECT_GE(share.inside, 0.0);
      EXPECT_LE(share.inside, 1.0);
    }
    EXPECT_EQ(rows, file.rows);
    EXPECT_GT(file.median_error, 0.0);
    EXPECT_LT(file.median_error, 1.0);
    EXPECT_EQ(file.peaks.has_value(), file.peaks_inside.has_value());
    EXPECT_EQ(file.rows_after_run.has_value(), file.median_error_after_run.has_value());
  }
}

}  // namespace
}  // namespace meshwright::planner
