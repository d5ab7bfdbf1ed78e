#include "planner/report/user_layout_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "planner/codec/json_codec.h"
#include "planner/report/answer_fields.h"
#include "tests/planner/test_specs.h"

namespace meshwright::planner {
namespace {

using testing::HasSubstr;
using testing::Not;

class UserLayoutReportTest : public testing::Test {
 protected:
  UserLayoutReport Of(const char* layout) {
    SearchRequest request = MakeRequest(context_, 64);
    request.mine = MakeLayout(layout);
    result_ = Search(request).value();
    return Report(*request.mine, result_, "the 80 % memory rule");
  }

  const TestContext context_ = MakeContext("llama-3-70b", "h100", 4096, 512);
  SearchResult result_;
};

TEST_F(UserLayoutReportTest, NamesTheRankAndWhatALayoutLosesMostBy) {
  const UserLayoutReport mine = Of("tp8.pp4.dp2.mb1.zero1.sp1");
  EXPECT_TRUE(mine.fits);
  EXPECT_GT(mine.rank, 1);
  EXPECT_EQ(mine.of, result_.funnel.evaluated);
  const TimeEstimate& best = result_.layouts.front().estimate.time;
  EXPECT_DOUBLE_EQ(mine.slower, mine.step_s / best.step_s() - 1.0);
  ASSERT_FALSE(mine.because.empty());
  EXPECT_EQ(mine.because[0].part, "tp");
  EXPECT_DOUBLE_EQ(mine.because[0].more_s,
                   result_.mine->estimate.time[TimePart::kTp] - best[TimePart::kTp]);
  EXPECT_THAT(mine.sentence, HasSubstr(" slower, because tensor-parallel communication takes "));
  EXPECT_THAT(mine.sentence, testing::EndsWith(" more"));
}

TEST_F(UserLayoutReportTest, TheBestIsFirst) {
  const UserLayoutReport any = Of("tp8.pp4.dp2.mb1.zero1.sp1");
  const std::string best = FormatLayout(result_.layouts.front().layout);
  const UserLayoutReport mine = Of(best.c_str());
  EXPECT_EQ(mine.rank, 1);
  EXPECT_EQ(mine.slower, 0.0);
  EXPECT_TRUE(mine.because.empty());
  EXPECT_THAT(mine.sentence, HasSubstr("no layout that fits is predicted to be faster"));
  EXPECT_EQ(any.of, mine.of);
}

TEST_F(UserLayoutReportTest, SaysByHowMuchALayoutDoesNotFit) {
  const UserLayoutReport mine = Of("tp4.pp4.dp4.mb2.zero1.sp1");
  EXPECT_FALSE(mine.fits);
  EXPECT_EQ(mine.over_bytes, mine.total_bytes - AllowedBytes(context_.cluster));
  EXPECT_THAT(mine.sentence,
              HasSubstr("over the 80 % memory rule by 19.80 GiB (probability of running out of "
                        "memory 86.4 %), so not ranked; with more memory it would be rank "));
}

TEST_F(UserLayoutReportTest, NamesTheRuleThatALayoutBreaks) {
  const UserLayoutReport mine = Of("tp3.pp4.dp2");
  EXPECT_EQ(mine.rule, "devices");
  EXPECT_THAT(mine.sentence, HasSubstr("can't run: tp * cp * pp * dp is 24, but there are 64"));
  EXPECT_EQ(WriteOrderedJson(mine).size(), 4u);
  EXPECT_EQ(Of("tp16.pp1.dp4").rule, "kv_heads_division");
}

TEST_F(UserLayoutReportTest, SaysSoWhereNothingFits) {
  const TestContext context = MakeContext("llama-3-405b", "a100-40", 4096, 8);
  SearchRequest request = MakeRequest(context, 8);
  request.mine = MakeLayout("tp8.pp1.dp1");
  const SearchResult result = Search(request).value();
  const UserLayoutReport mine = Report(*request.mine, result, "the 80 % memory rule");
  EXPECT_THAT(mine.sentence, HasSubstr("nothing else fits either"));
  EXPECT_THAT(mine.sentence, Not(HasSubstr("would be rank")));
}

}  // namespace
}  // namespace meshwright::planner
