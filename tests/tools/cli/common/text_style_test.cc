#include "tools/cli/common/text_style.h"

#include <gtest/gtest.h>

namespace meshwright::cli {
namespace {

TEST(TextStyle, LayoutsAreShortUnlessAllKeysAreWanted) {
  const planner::Layout layout = *planner::ParseLayout("tp2.pp1.dp8.zero1");
  EXPECT_EQ(LayoutText(layout, {}), "tp2.dp8.zero1");
  EXPECT_EQ(LayoutText(layout, {.whole_layouts = true}),
            "tp2.cp1.pp1.dp8.mb1.vpp1.zero1.sp0.rc=none.sched=1f1b");
}

TEST(TextStyle, OptionsFollowTheLayout) {
  planner::RankedLayout ranked{.layout = *planner::ParseLayout("dp8"), .estimate = {}};
  ranked.options = {{"loss", "chunked:8"}};
  EXPECT_EQ(LayoutText(ranked, {}), "dp8 loss=chunked:8");
}

TEST(TextStyle, LayoutsInASentenceAreShortToo) {
  const char* sentence =
      "tp8.cp1.pp1.dp1.mb1.vpp1.zero0.sp1.rc=full.sched=1f1b wins: the next, "
      "tp1.cp1.pp1.dp8.mb1.vpp1.zero1.sp0.rc=none.sched=1f1b, is tp-parallel.";
  EXPECT_EQ(SentenceText(sentence, {}),
            "tp8.sp1.rc=full wins: the next, dp8.zero1, is tp-parallel.");
  EXPECT_EQ(SentenceText(sentence, {.whole_layouts = true}), sentence);
  EXPECT_EQ(SentenceText("", {}), "");
}

TEST(TextStyle, ATextThatIsNoLayoutStaysAsItIs) {
  EXPECT_EQ(LayoutText("tp1.cp1.pp1.dp2", {}), "dp2");
  EXPECT_EQ(LayoutText("layout1", {}), "layout1");
}

}  // namespace
}  // namespace meshwright::cli
