#include "planner/search/rules.h"

#include <gtest/gtest.h>

#include <set>

#include "tests/planner/test_specs.h"

namespace meshwright::planner {
namespace {

struct Broken {
  const char* layout;
  int64_t devices;
  Rule rule;
};

class BrokenRule : public testing::TestWithParam<Broken> {};

TEST_P(BrokenRule, IsNamedWithASentence) {
  // 32 layers, 32 heads, 8 key/value heads.
  const TestContext context = MakeContext("llama-3-8b", "h100", 8192, 64);
  const auto violation =
      CheckLayout(context.get(), GetParam().devices, MakeLayout(GetParam().layout));
  ASSERT_TRUE(violation.has_value());
  EXPECT_EQ(RuleName(violation->rule), RuleName(GetParam().rule));
  EXPECT_FALSE(Describe(*violation).empty());
}

INSTANTIATE_TEST_SUITE_P(
    Each, BrokenRule,
    testing::Values(Broken{"tp2.pp2.dp1", 8, Rule::kDevices},
                    Broken{"tp1.pp3.dp1", 3, Rule::kLayersDivision},
                    Broken{"tp3.pp1.dp1", 3, Rule::kHeadsDivision},
                    Broken{"tp16.pp1.dp1", 16, Rule::kKvHeadsDivision},
                    Broken{"tp1.cp3.pp1.dp1", 3, Rule::kContextDivision},
                    Broken{"tp1.pp1.dp1.sp1", 1, Rule::kSequenceParallelTp},
                    Broken{"tp1.pp2.dp1.vpp2.sched=1f1b", 2, Rule::kScheduleChunks},
                    Broken{"tp1.pp1.dp1.vpp2", 1, Rule::kScheduleChunks},
                    Broken{"tp1.pp8.dp1.rc=block:5", 8, Rule::kRecomputeLayers},
                    Broken{"tp2.pp1.dp1.zero1", 2, Rule::kZeroRanks},
                    Broken{"tp1.pp2.dp2.zero3", 4, Rule::kProfile},
                    Broken{"tp1.pp1.dp3", 3, Rule::kBatchDivision},
                    Broken{"tp1.pp1.dp1.mb3", 1, Rule::kBatchDivision},
                    Broken{"tp1.pp16.dp8.vpp2", 128, Rule::kInterleaveBatches}));

TEST(Rules, AcceptALayoutThatRuns) {
  const TestContext context = MakeContext("llama-3-8b", "h100", 8192, 64);
  EXPECT_FALSE(CheckLayout(context.get(), 32, MakeLayout("tp2.cp2.pp4.dp2.vpp4.zero1.sp1")));
}

TEST(Rules, HaveNamesOfTheirOwn) {
  std::set<std::string_view> names;
  for (int i = 0; i < static_cast<int>(Rule::kCount); ++i) names.insert(RuleName(Rule(i)));
  EXPECT_EQ(names.size(), static_cast<size_t>(Rule::kCount));
}

TEST(Rules, DoNotPadTheVocabularyWhereTheFrameworkDoesNot) {
  TestContext context = MakeContext("llama-3-8b", "h100", 8192, 64);
  context.model.vocab = 32001;
  EXPECT_FALSE(CheckLayout(context.get(), 2, MakeLayout("tp2.pp1.dp1")));
  context.profile.supports.vocab_multiple = 0;
  EXPECT_EQ(CheckLayout(context.get(), 2, MakeLayout("tp2.pp1.dp1"))->rule, Rule::kVocabDivision);
}

}  // namespace
}  // namespace meshwright::planner
