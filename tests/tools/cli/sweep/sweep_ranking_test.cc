#include "tools/cli/sweep/sweep_ranking.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace meshwright::cli {
namespace {

using testing::ElementsAre;

StepSpread Between(double low_s, double high_s) {
  return {(low_s + high_s) / 2, trial::MedianInterval{low_s, high_s}};
}

TEST(RankSteps, StepsThatAreToldApartHaveTheirOwnRank) {
  EXPECT_THAT(RankSteps({Between(3.0, 3.1), Between(1.0, 1.1), Between(2.0, 2.1)}),
              ElementsAre(StepRank{3, false}, StepRank{1, false}, StepRank{2, false}));
}

TEST(RankSteps, OverlappingIntervalsShareARank) {
  EXPECT_THAT(RankSteps({Between(1.0, 1.2), Between(1.1, 1.3), Between(2.0, 2.1)}),
              ElementsAre(StepRank{1, true}, StepRank{1, true}, StepRank{3, false}));
}

// The third is slower than the first beyond doubt, and may be as fast as the second.
TEST(RankSteps, OnlyStepsThatAreShorterBeyondDoubtGoBefore) {
  EXPECT_THAT(RankSteps({Between(1.0, 1.2), Between(1.1, 1.5), Between(1.4, 1.6)}),
              ElementsAre(StepRank{1, true}, StepRank{1, true}, StepRank{2, true}));
}

TEST(RankSteps, WithoutAnIntervalTheMedianCountsAsKnown) {
  EXPECT_THAT(RankSteps({{1.0, std::nullopt}, {1.1, std::nullopt}, Between(1.05, 1.2)}),
              ElementsAre(StepRank{1, false}, StepRank{2, true}, StepRank{2, true}));
  EXPECT_TRUE(RankSteps({}).empty());
}

}  // namespace
}  // namespace meshwright::cli
