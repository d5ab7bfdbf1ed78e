#include "planner/search/objective.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/text/field_error.h"
#include "planner/search/search.h"
#include "tests/planner/test_specs.h"

namespace meshwright::planner {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST(Objective, OfOneSizeAndBatchIsSpeedEnergyOrMemory) {
  EXPECT_EQ(MeritOf(Objective::kMfu), Merit::kSpeed);
  EXPECT_EQ(MeritOf(Objective::kCost), Merit::kSpeed);
  EXPECT_EQ(MeritOf(Objective::kTimeToLoss), Merit::kSpeed);
  EXPECT_EQ(MeritOf(Objective::kTokensPerS), Merit::kSpeed);
  EXPECT_EQ(MeritOf(Objective::kEnergy), Merit::kEnergy);
  EXPECT_EQ(MeritOf(Objective::kMemory), Merit::kMemory);
}

TEST(Objective, CountsMoreAsBetter) {
  Estimate little;
  little.memory.weights_bytes = 1;
  Estimate much;
  much.memory.weights_bytes = 2;
  much.mfu = 0.5;
  much.tokens_per_s = 30.0;
  much.tokens_per_s_per_gpu = 3.0;
  much.tokens_per_joule = 2.0;
  EXPECT_GT(ScoreOf(Objective::kMemory, little), ScoreOf(Objective::kMemory, much));
  EXPECT_EQ(ScoreOf(Objective::kMfu, much), 0.5);
  EXPECT_EQ(ScoreOf(Objective::kTokensPerS, much), 30.0);
  EXPECT_EQ(ScoreOf(Objective::kTimeToLoss, much), 30.0);
  EXPECT_EQ(ScoreOf(Objective::kCost, much), 3.0);
  EXPECT_EQ(ScoreOf(Objective::kEnergy, much), 2.0);
}

TEST(Objective, IsReadByItsName) {
  EXPECT_EQ(ParseObjective("objective", "cost").value(), Objective::kCost);
  const absl::Status unknown = ParseObjective("objective", "speed").status();
  EXPECT_EQ(FieldOf(unknown), "objective");
  EXPECT_THAT(unknown.message(),
              HasSubstr("mfu, tokens_per_s, cost, time_to_loss, energy, memory"));
}

TEST(Merits, AreTwoOrThreeThatDiffer) {
  EXPECT_THAT(ParseMerits("pareto", "mfu,memory").value(),
              ElementsAre(Merit::kSpeed, Merit::kMemory));
  EXPECT_THAT(ParseMerits("pareto", "memory, energy, cost").value(),
              ElementsAre(Merit::kMemory, Merit::kEnergy, Merit::kSpeed));
  for (const char* text : {"", "mfu", "mfu,cost", "mfu,memory,mfu", "mfu,weight", "mfu,"}) {
    EXPECT_EQ(FieldOf(ParseMerits("pareto", text).status()), "pareto") << text;
  }
  EXPECT_THAT(ParseMerits("pareto", "mfu,cost").status().message(),
              HasSubstr("cost ranks layouts in the same order as a measure before it"));
}

SearchRequest Request(Objective objective) {
  SearchRequest request = MakeRequest(MakeContext("llama-2-13b", "h100", 4096, 128), 64);
  request.objective = objective;
  return request;
}

TEST(SearchByObjective, RanksByMemory) {
  const SearchResult result = Search(Request(Objective::kMemory)).value();
  const SearchResult fastest = Search(Request(Objective::kMfu)).value();
  for (size_t i = 1; i < result.layouts.size(); ++i) {
    EXPECT_LE(result.layouts[i - 1].estimate.memory.total_bytes(),
              result.layouts[i].estimate.memory.total_bytes());
  }
  EXPECT_LT(result.layouts.front().estimate.memory.total_bytes(),
            fastest.layouts.front().estimate.memory.total_bytes());
  EXPECT_LT(result.layouts.front().estimate.mfu, fastest.layouts.front().estimate.mfu);
  EXPECT_EQ(result.ties.count, 0);
  EXPECT_TRUE(result.worth_a_trial.empty());
  EXPECT_EQ(result.funnel, fastest.funnel);
}

TEST(SearchByObjective, RanksByEnergy) {
  const SearchResult result = Search(Request(Objective::kEnergy)).value();
  const SearchResult fastest = Search(Request(Objective::kMfu)).value();
  for (size_t i = 1; i < result.layouts.size(); ++i) {
    EXPECT_GE(result.layouts[i - 1].estimate.tokens_per_joule,
              result.layouts[i].estimate.tokens_per_joule);
  }
  EXPECT_GE(result.layouts.front().estimate.tokens_per_joule,
            fastest.layouts.front().estimate.tokens_per_joule);
}

TEST(SearchByObjective, RanksBySpeedWhateverItsName) {
  const SearchResult fastest = Search(Request(Objective::kMfu)).value();
  for (const Objective objective :
       {Objective::kTokensPerS, Objective::kCost, Objective::kTimeToLoss}) {
    EXPECT_EQ(Search(Request(objective)).value().layouts, fastest.layouts);
  }
}

TEST(SearchByObjective, NeedsPowerForEnergy) {
  SearchRequest request = Request(Objective::kEnergy);
  request.cluster.power = {};
  EXPECT_EQ(FieldOf(Search(request).status()), "objective");
  request.objective = Objective::kMfu;
  request.pareto = {Merit::kSpeed, Merit::kEnergy};
  EXPECT_EQ(FieldOf(Search(request).status()), "pareto");
}

}  // namespace
}  // namespace meshwright::planner
