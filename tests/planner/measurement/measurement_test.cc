#include "planner/measurement/measurement.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace meshwright {
namespace {

using testing::HasSubstr;

std::string ErrorOf(const char* text) {
  return std::string(ParseMeasurements(text).status().message());
}

TEST(ParseMeasurements, GoesByTheHeader) {
  const auto rows = ParseMeasurements(
      "tp,outcome,colour,model,step_time_s\n"
      "4,oom,red,m1,\n"
      "2,ok,blue,,1.5\n");
  ASSERT_TRUE(rows.ok()) << rows.status();
  ASSERT_EQ(rows->size(), 2u);
  EXPECT_EQ((*rows)[0].tp, 4);
  EXPECT_EQ((*rows)[0].outcome, Outcome::kOom);
  EXPECT_EQ((*rows)[0].model, "m1");
  EXPECT_EQ((*rows)[0].step_time_s, std::nullopt);
  EXPECT_EQ((*rows)[0].pp, std::nullopt);
  EXPECT_EQ((*rows)[1].outcome, Outcome::kOk);
  EXPECT_EQ((*rows)[1].model, "");
  EXPECT_EQ((*rows)[1].step_time_s, 1.5);
}

TEST(ParseMeasurements, TakesWindowsLinesBlankLinesAndWholeFloats) {
  const auto rows = ParseMeasurements("\xEF\xBB\xBFtp,sweep\r\n 8.0 ,s\r\n\r\n,t");
  ASSERT_TRUE(rows.ok()) << rows.status();
  ASSERT_EQ(rows->size(), 2u);
  EXPECT_EQ((*rows)[0].tp, 8);
  EXPECT_EQ((*rows)[0].sweep, "s");
  EXPECT_EQ((*rows)[1].outcome, Outcome::kUnknown);
}

TEST(ParseMeasurements, AHeaderAloneIsNoRows) {
  const auto rows = ParseMeasurements("sweep,model\n");
  ASSERT_TRUE(rows.ok());
  EXPECT_TRUE(rows->empty());
}

// A row that can't be read stays in its place and says why.
TEST(ParseMeasurements, KeepsOddRowsWithLineAndColumn) {
  const auto problem = [](const char* text, size_t row = 0) {
    return ParseMeasurements(text).value().at(row).problem;
  };
  EXPECT_THAT(problem("tp,pp\n1,1\n1,two\n", 1),
              HasSubstr("line 3 pp = two: must be a whole number"));
  EXPECT_THAT(problem("tp\n1.5\n"), HasSubstr("line 2 tp = 1.5"));
  EXPECT_THAT(problem("mfu\nnan\n"), HasSubstr("line 2 mfu = nan: must be a number"));
  EXPECT_THAT(problem("outcome\nfine\n"), HasSubstr("must be ok, oom, error or empty"));
  EXPECT_THAT(problem("tp,pp\n1\n"), HasSubstr("line 2 cells = 1: the header has 2"));
  EXPECT_EQ(problem("tp,pp\n1,2\n"), "");
}

TEST(ParseMeasurements, ReadsQuotedCells) {
  const auto rows = ParseMeasurements("model,notes,tp\n\"a, b\",\"c\",2\nd,,3\n").value();
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0].model, "a, b");
  EXPECT_EQ(rows[0].notes, "c");
  EXPECT_EQ(rows[0].tp, 2);
  EXPECT_EQ(rows[1].model, "d");
  EXPECT_EQ(rows[1].tp, 3);
}

TEST(ParseMeasurements, RefusesAHeaderThatIsNone) {
  EXPECT_THAT(ErrorOf("tp,pp,tp\n"), HasSubstr("stands in the header twice"));
  EXPECT_THAT(ErrorOf("a,b\n"), HasSubstr("names no column"));
  EXPECT_THAT(ErrorOf(""), HasSubstr("names no column"));
}

}  // namespace
}  // namespace meshwright
