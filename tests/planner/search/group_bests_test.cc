#include "planner/search/group_bests.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/text/field_error.h"
#include "planner/layout/keys.h"

namespace meshwright::planner {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

Layout Divided(const char* text) { return ParseLayout(text).value(); }

Estimate Fast(double mfu) {
  Estimate estimate;
  estimate.mfu = mfu;
  return estimate;
}

constexpr size_t kTpKey = IndexOf(*FindKey("tp"));
constexpr size_t kScheduleKey = IndexOf(*FindKey("sched"));

void Add(GroupBests& groups, const char* text, double mfu, PointOrder order) {
  const Layout layout = Divided(text);
  groups.Count(layout);
  if (groups.Takes(layout, ScoresOf(Fast(mfu)))) groups.Offer({layout, Fast(mfu)}, order);
}

TEST(GroupFields, AreNamesOfACondition) {
  EXPECT_THAT(ParseGroupFields("best_per", "tp, sched").value(), ElementsAre(kTpKey, kScheduleKey));
  for (const char* text : {"", "tp,", "width", "tp,pp,tp", "tp,pp,cp,dp,mb"}) {
    EXPECT_EQ(FieldOf(ParseGroupFields("best_per", text).status()), "best_per") << text;
  }
  EXPECT_THAT(ParseGroupFields("best_per", "width").status().message(), HasSubstr("tp, cp, pp"));
}

TEST(GroupBests, KeepsTheBestOfEachAndCountsAll) {
  GroupBests groups({kTpKey, kScheduleKey}, Merit::kSpeed);
  Add(groups, "tp1.pp2.dp4", 0.3, 1);
  Add(groups, "tp2.pp2.dp2", 0.5, 2);
  Add(groups, "tp1.pp4.dp2", 0.4, 3);
  Add(groups, "tp2.pp4.dp1.sched=gpipe", 0.2, 4);
  Add(groups, "tp1.pp8.dp1", 0.1, 5);
  const std::vector<GroupBest> found = groups.Take(10);
  ASSERT_EQ(found.size(), 3u);
  EXPECT_EQ(found[0].group, "tp = 2 and sched = 1f1b");
  EXPECT_EQ(found[0].fit, 1);
  EXPECT_EQ(found[1].group, "tp = 1 and sched = 1f1b");
  EXPECT_EQ(found[1].fit, 3);
  EXPECT_EQ(found[1].best.layout, Divided("tp1.pp4.dp2"));
  EXPECT_EQ(found[2].group, "tp = 2 and sched = gpipe");
}

TEST(GroupBests, ListsAtMostAsManyAsAsked) {
  GroupBests groups({kTpKey}, Merit::kSpeed);
  Add(groups, "tp1.pp1.dp4", 0.3, 1);
  Add(groups, "tp2.pp1.dp2", 0.5, 2);
  const std::vector<GroupBest> found = groups.Take(1);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].best.layout.tp, 2);
}

TEST(GroupBests, DoesNotDependOnWhoSawWhat) {
  GroupBests first({kTpKey}, Merit::kSpeed);
  GroupBests second({kTpKey}, Merit::kSpeed);
  Add(first, "tp1.pp2.dp2", 0.3, 4);
  Add(second, "tp1.pp4.dp1", 0.3, 3);
  Add(second, "tp2.pp2.dp1", 0.2, 5);
  first.Merge(std::move(second));
  const std::vector<GroupBest> found = first.Take(10);
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].best.layout, Divided("tp1.pp4.dp1"));
  EXPECT_EQ(found[0].fit, 2);
  EXPECT_EQ(found[1].fit, 1);
}

}  // namespace
}  // namespace meshwright::planner
