#include "planner/measurement/measurement.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace meshwright::planner {
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
  EXPECT_EQ((*rows)[0].outcome, RunOutcome::kOom);
  EXPECT_EQ((*rows)[0].model, "m1");
  EXPECT_EQ((*rows)[0].step_time_s, std::nullopt);
  EXPECT_EQ((*rows)[0].pp, std::nullopt);
  EXPECT_EQ((*rows)[1].outcome, RunOutcome::kOk);
  EXPECT_EQ((*rows)[1].model, "");
  EXPECT_EQ((*rows)[1].step_time_s, 1.5);
}

TEST(ParseMeasurements, TakesWindowsLinesBlankLinesAndWholeFloats) {
  const auto rows = ParseMeasurements("\xEF\xBB\xBFtp,sweep\r\n 8.0 ,s\r\n\r\n,t");
  ASSERT_TRUE(rows.ok()) << rows.status();
  ASSERT_EQ(rows->size(), 2u);
  EXPECT_EQ((*rows)[0].tp, 8);
  EXPECT_EQ((*rows)[0].sweep, "s");
  EXPECT_EQ((*rows)[1].outcome, RunOutcome::kUnknown);
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
  EXPECT_THAT(problem("tp,pp\n1,1\n1,two\n", 1), "pp = two: must be a whole number or empty");
  EXPECT_THAT(problem("tp\n1.5\n"), HasSubstr("tp = 1.5"));
  EXPECT_THAT(problem("mfu\nnan\n"), HasSubstr("mfu = nan: must be a number"));
  EXPECT_THAT(problem("outcome\nfine\n"), HasSubstr("must be ok, oom, error or empty"));
  EXPECT_THAT(problem("tp,pp\n1\n"), HasSubstr("cells = 1: the header has 2"));
  EXPECT_THAT(problem("tp,pp\n1,2,3\n"), HasSubstr("cells = 3: the header has 2"));
  EXPECT_EQ(problem("tp,pp\n1,2\n"), "");
  EXPECT_EQ(problem("tp,pp\n1,2,\n"), "");
  EXPECT_EQ(ParseMeasurements("tp,pp\n1,1\n\n1,two\n")->at(1).line, 4);
}

TEST(ParseMeasurements, RefusesWhatNoRunCanHave) {
  const auto problem = [](const std::string& column, const char* value) {
    return ParseMeasurements(column + ",tp\n" + value + ",1\n")->at(0).problem;
  };
  for (const char* column : {"step_time_s", "tokens_per_s_per_gpu", "peak_mem_gib"}) {
    for (const char* value : {"-1", "0", "1e300"}) {
      EXPECT_THAT(problem(column, value),
                  HasSubstr(std::string(column) + " = " + value + ": must be above 0"));
    }
  }
  EXPECT_THAT(problem("mfu", "45"), HasSubstr("mfu = 45: must be a fraction above 0"));
  EXPECT_THAT(problem("mfu", "-0.4"), HasSubstr("mfu = -0.4: must be a fraction above 0"));
  EXPECT_THAT(problem("gpus", "0"), HasSubstr("gpus = 0: must be at least 1"));
  EXPECT_THAT(problem("zero_stage", "4"), HasSubstr("zero_stage = 4: must be 0, 1, 2, 3"));
  // Small models on a processor whose peak is stated too low.
  EXPECT_EQ(problem("mfu", "1.6"), "");
  EXPECT_EQ(problem("zero_stage", "0"), "");
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

TEST(FillShapes, TakesWhatOtherRowsOfTheModelSayWhereTheyAgree) {
  auto rows =
      ParseMeasurements(
          "source,model,layers,hidden,tp\na,m,4,64,1\na,m,,128,1\na,m,,,\nb,m,,,1\na,n,,,1\n")
          .value();
  FillShapes(rows);
  EXPECT_EQ(rows[2].layers, 4);
  EXPECT_EQ(rows[2].hidden, std::nullopt);  // they disagree
  EXPECT_EQ(rows[2].tp, std::nullopt);      // says nothing about the model
  EXPECT_EQ(rows[3].layers, std::nullopt);  // of another source
  EXPECT_EQ(rows[4].layers, std::nullopt);
}

}  // namespace
}  // namespace meshwright::planner
