#include "tools/cli/common/legend.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>
#include <string>
#include <vector>

#include "absl/strings/str_split.h"

namespace meshwright::cli {
namespace {

using testing::Eq;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

std::string WordsOf(const std::vector<std::string>& texts) {
  std::vector<planner::Layout> layouts;
  layouts.reserve(texts.size());
  for (const std::string& text : texts) layouts.push_back(*planner::ParseLayout(text));
  Legend legend;
  legend.AddWordsOf(layouts);
  std::ostringstream out;
  legend.Print(out);
  return out.str();
}

TEST(Legend, SaysAKeyOnceAndInTheOrderOfTheText) {
  EXPECT_THAT(WordsOf({"pp2.vpp3.stages=4+4x6+4", "dp8.mb2", "pp2.dp4.vpp2.mb2"}),
              Eq("\nmb      sequences in a micro-batch\n"
                 "vpp     number of chunks that a pipeline rank's layers are split into (without\n"
                 "        pp, one rank has all layers); the schedule loops over them\n"
                 "stages  layers of each stage or vpp chunk in order (4+4x6+4: one of 4 layers,\n"
                 "        four of 6, one of 4); absent: the framework's own split\n"));
}

TEST(Legend, LeavesOutAxesAndWhatTheShortTextLeavesOut) {
  EXPECT_THAT(WordsOf({"tp2.cp2.pp2.dp8", "pp2.vpp1.sched=1f1b", "dp1"}), IsEmpty());
  EXPECT_THAT(WordsOf({"pp2.vpp2.sched=breadth_first"}), HasSubstr("\nsched   the order in"));
}

TEST(Legend, ALongMeaningStaysBesideItsMark) {
  std::ostringstream out;
  Legend legend;
  legend.Add("offload", std::string(60, 'a') + " " + std::string(60, 'b'));
  legend.Print(out);
  const std::vector<std::string> lines = absl::StrSplit(out.str(), '\n');
  ASSERT_EQ(lines.size(), 4u);
  EXPECT_THAT(lines[1], StartsWith("offload  aaa"));
  EXPECT_THAT(lines[2], StartsWith("         bbb"));
}

}  // namespace
}  // namespace meshwright::cli
