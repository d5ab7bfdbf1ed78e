#include "planner/layout/layout.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace meshwright::planner {
namespace {

using testing::HasSubstr;

TEST(LayoutText, RoundTrips) {
  for (const char* text :
       {"tp4.cp1.pp2.dp8.mb1.vpp1.zero1.sp1.rc=none.sched=1f1b",
        "tp1.cp2.pp4.dp1.mb3.vpp5.zero0.sp0.rc=block:2.sched=interleaved",
        "tp1.cp1.pp1.dp16.mb1.vpp1.zero3.sp0.rc=none.sched=1f1b.hs=8",
        "tp2.cp1.pp8.dp16.ep8.etp1.mb1.vpp1.zero1.sp1.rc=none.sched=1f1b",
        "tp2.cp1.pp1.dp8.ep1.etp2.mb1.vpp1.zero1.sp1.rc=none.sched=1f1b",
        "tp1.cp1.pp2.dp2.mb1.vpp1.zero1.sp0.rc=none.sched=1f1b.hs=2.stages=3+5",
        ("tp1.cp1.pp4.dp1.mb1.vpp4.zero0.sp0.rc=none.sched=interleaved.stages=1+"
         "14x2+1"),
        "tp1.cp1.pp1.dp8.mb1.vpp1.zero3.sp0.rc=none.sched=1f1b.offload=act:8",
        "tp1.cp1.pp1.dp8.mb1.vpp1.zero1.sp0.rc=none.sched=1f1b.offload=opt",
        ("tp1.cp1.pp2.dp2.mb1.vpp1.zero1.sp0.rc=none.sched=1f1b.hs=2.stages=3+5."
         "offload=act:2+opt"),
        "tp1.cp1.pp1.dp8.mb1.vpp1.zero3.sp0.rc=none.sched=1f1b.offload=opt+param",
        "tp1.cp1.pp1.dp8.mb1.vpp1.zero3.sp0.rc=none.sched=1f1b.offload=opt+"
        "param+grad",
        "tp1.cp1.pp1.dp1.mb1.vpp1.zero3.sp0.rc=selective.sched=zb_h1"}) {
    const Layout layout = ParseLayout(text).value();
    EXPECT_EQ(FormatLayout(layout), text);
    EXPECT_EQ(ParseLayout(ShortLayout(layout)).value(), layout) << ShortLayout(layout);
  }
}

TEST(LayoutText, IsShortWithoutWhatGoesWithoutSaying) {
  for (const char* text : {"tp2.pp8.dp16.zero1", "dp32.zero3", "tp8", "dp1", "dp1.mb2", "pp4.vpp2",
                           "pp4.vpp2.sched=breadth_first", "tp2.dp4.ep8.rc=block:2.attn=flash2"}) {
    EXPECT_EQ(ShortLayout(ParseLayout(text).value()), text);
  }
}

TEST(LayoutText, TakesTheDataParallelRanksThatTheDevicesLeave) {
  EXPECT_EQ(ParseLayoutOn("tp2.pp4", 64)->dp, 8);
  EXPECT_EQ(ParseLayoutOn("tp2.pp4.dp1", 64)->dp, 1);
  EXPECT_EQ(ParseLayoutOn("tp2.pp4", 12)->dp, 1);
  EXPECT_EQ(ParseLayoutOn("tp2.pp4", 0)->dp, 1);
  EXPECT_EQ(ParseLayout("tp2.pp4")->dp, 1);
}

TEST(LayoutText, TakesWordsInAnyCase) {
  const auto layout = ParseLayout("TP2.pp2.DP1.RC=Selective.Sched=1F1B.attn=FLASH2");
  ASSERT_TRUE(layout.ok()) << layout.status();
  EXPECT_EQ(FormatLayout(*layout),
            "tp2.cp1.pp2.dp1.mb1.vpp1.zero0.sp0.rc=selective.sched=1f1b.attn=flash2");
}

TEST(LayoutText, TakesKeysInAnyOrderWithDefaults) {
  const Layout layout = ParseLayout("pp4.dp2.tp2.vpp2").value();
  EXPECT_EQ(FormatLayout(layout), "tp2.cp1.pp4.dp2.mb1.vpp2.zero0.sp0.rc=none.sched=interleaved");
}

class BadLayout : public testing::TestWithParam<std::pair<const char*, const char*>> {};

// The text has them in one order, each once.
TEST(LayoutText, NamesRecomputedModules) {
  const Layout layout = ParseLayout("tp1.pp1.dp8.rc=mlp+mla_up_proj+mlp").value();
  EXPECT_EQ(layout.recompute, Recompute::kModules);
  EXPECT_EQ(FormatRecompute(layout), "mla_up_proj+mlp");
  EXPECT_EQ(ParseLayout(FormatLayout(layout)).value(), layout);
  Layout other = layout;
  ASSERT_TRUE(ParseRecompute("block:3", other).ok());
  EXPECT_EQ(FormatRecompute(other), "block:3");
  EXPECT_TRUE(other.recompute_modules.empty());
}

TEST_P(BadLayout, IsRefusedNamingThePart) {
  const auto layout = ParseLayout(GetParam().first);
  ASSERT_EQ(layout.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(layout.status().message()), HasSubstr(GetParam().second));
}

INSTANTIATE_TEST_SUITE_P(
    Texts, BadLayout,
    testing::Values(std::pair{"", "not a part"},
                    std::pair{"mb2", "must have at least one of tp, pp and dp"},
                    std::pair{"tp0.pp1.dp1", "tp takes a whole number from 1"},
                    std::pair{"tp-1.pp1.dp1", "tp takes"}, std::pair{"tpx.pp1.dp1", "not a part"},
                    std::pair{"tp1.pp1.dp1.zero4", "zero takes a whole number from 0 to 3"},
                    std::pair{"tp1.pp1.dp1.sp2", "not a part"},
                    std::pair{"tp1.pp1.dp8.ep0", "ep takes a whole number from 1"},
                    std::pair{"tp1.pp1.dp1.dp2", "dp is given twice"},
                    std::pair{"tp1.pp1.dp1.rc=some", "rc must be"},
                    std::pair{"tp1.pp1.dp1.rc=block:0", "rc must be"},
                    std::pair{"tp1.pp1.dp1.rc=", "rc must be"},
                    std::pair{"tp1.pp1.dp1.rc=mlp+none",
                              "modules divided by +: layernorm, moe_act"},
                    std::pair{"tp1.pp2.dp1.stages=3,5", "must be layers per stage in order"},
                    std::pair{"tp1.pp2.dp1.stages=3+5.stages=4+4", "stages is given twice"},
                    std::pair{"tp1.pp1.dp1.offload=", "must be act:N with N from 1"},
                    std::pair{"tp1.pp1.dp1.offload=act:0", "must be act:N with N from 1"},
                    std::pair{"tp1.pp1.dp1.offload=act:2+act:3", "must be act:N with N from 1"},
                    std::pair{"tp1.pp1.dp1.offload=opt+opt", "must be act:N with N from 1"},
                    std::pair{"tp1.pp1.dp1.offload=param", "must be act:N with N from 1"},
                    std::pair{"tp1.pp1.dp1.offload=opt+grad", "must be act:N with N from 1"},
                    std::pair{"tp1.pp1.dp1.offload=opt.offload=opt", "offload is given twice"},
                    std::pair{"tp1.pp1.dp1.sched=2f2b", "sched must be"},
                    std::pair{"tp99999999999.pp1.dp1", "tp takes"}));

}  // namespace
}  // namespace meshwright::planner
