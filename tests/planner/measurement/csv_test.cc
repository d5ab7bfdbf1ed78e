#include "planner/measurement/csv.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace meshwright::planner {
namespace {

using testing::ElementsAre;

TEST(ParseCsv, LinesEndInAnyWay) {
  for (const char* end : {"\n", "\r\n", "\r"}) {
    const auto records = ParseCsv(std::string("a,b,") + end + "1,2," + end);
    ASSERT_EQ(records.size(), 2u);
    EXPECT_THAT(records[0].cells, ElementsAre("a", "b", ""));
    EXPECT_THAT(records[1].cells, ElementsAre("1", "2", ""));
    EXPECT_EQ(records[1].line, 2);
  }
}

TEST(ParseCsv, QuotedCellsHoldEverything) {
  const auto records =
      ParseCsv("a\n\"x, y\", \"say \"\"hi\"\"\" ,\" kept \"\n\"two\r\nlines\",b\n");
  ASSERT_EQ(records.size(), 3u);
  EXPECT_THAT(records[1].cells, ElementsAre("x, y", "say \"hi\"", " kept "));
  EXPECT_THAT(records[2].cells, ElementsAre("two\r\nlines", "b"));
  EXPECT_EQ(records[2].line, 3);
}

TEST(ParseCsv, LinesCountThroughQuotes) {
  const auto records = ParseCsv("\"a\nb\"\nc\n");
  ASSERT_EQ(records.size(), 2u);
  EXPECT_EQ(records[0].line, 1);
  EXPECT_EQ(records[1].line, 3);
}

TEST(ParseCsv, AQuoteThatNothingClosesIsALetter) {
  EXPECT_THAT(ParseCsv("\"a,b\nc\n").at(0).cells, ElementsAre("\"a", "b"));
  EXPECT_THAT(ParseCsv("5\" disk,b\n").at(0).cells, ElementsAre("5\" disk", "b"));
}

TEST(ParseCsv, LeavesOutTheMarkAndEmptyRecords) {
  const auto records = ParseCsv("\xEF\xBB\xBFtp, pp \n\n ,\t\n1,2");
  ASSERT_EQ(records.size(), 2u);
  EXPECT_THAT(records[0].cells, ElementsAre("tp", "pp"));
  EXPECT_THAT(records[1].cells, ElementsAre("1", "2"));
  EXPECT_EQ(records[1].line, 4);
  EXPECT_TRUE(ParseCsv("").empty());
}

}  // namespace
}  // namespace meshwright::planner
