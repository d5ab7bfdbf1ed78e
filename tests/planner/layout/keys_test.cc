#include "planner/layout/keys.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "planner/layout/layout_condition.h"
#include "planner/policy/trial_point.h"
#include "planner/report/estimate_json.h"
#include "planner/search/group_bests.h"
#include "planner/search/neighbours.h"
#include "tests/planner/test_specs.h"

namespace meshwright::planner {
namespace {

// A layout in which every key can have another value without a change of its text's other parts.
Layout Origin() { return MakeLayout("tp2.cp2.pp2.dp2.ep2.etp2.mb2.vpp2.zero1.sp0.sched=gpipe"); }

// The layout with another value of the key.
Layout Changed(const LayoutKey& key, Layout layout) {
  if (key.kind == KeyKind::kText) {
    const char* text = key.name == "stages" ? "17+15" : "act:8+opt";
    EXPECT_TRUE(ReadValue(key, text, layout).ok()) << key.name;
  } else {
    key.set_number(key.kind == KeyKind::kCount ? key.high : 1, layout);
  }
  return layout;
}

class EachKey : public testing::TestWithParam<size_t> {
 protected:
  const LayoutKey& key_ = kLayoutKeys[GetParam()];
  const Layout from_ = Origin();
  const Layout to_ = Changed(key_, from_);
};

TEST_P(EachKey, ChangesTheText) {
  EXPECT_NE(FormatLayout(from_), FormatLayout(to_));
  EXPECT_EQ(ParseLayout(FormatLayout(to_)).value(), to_);
  EXPECT_NE(from_, to_);
}

TEST_P(EachKey, ChangesItsAxisAlone) {
  const auto axes = [](const Layout& layout) { return LayoutToJson(layout, Estimate())["axes"]; };
  nlohmann::ordered_json from = axes(from_);
  const nlohmann::ordered_json to = axes(to_);
  const std::string name(key_.name);
  ASSERT_TRUE(from.contains(name));
  EXPECT_NE(from[name], to[name]);
  from[name] = to[name];
  EXPECT_EQ(from, to);
}

TEST_P(EachKey, ChangesThePoint) { EXPECT_GT(SquaredDistance(PointOf(from_), PointOf(to_)), 0.0); }

TEST_P(EachKey, IsDescribedAsAChange) {
  EXPECT_THAT(DescribeChanges(from_, to_),
              testing::ElementsAre(testing::StartsWith(std::string(key_.name) + " ")));
}

TEST_P(EachKey, IsToldApartByACondition) {
  for (const Layout& layout : {from_, to_}) {
    const std::string text = std::string(key_.name) + " = " + ConditionText(key_, layout);
    const auto condition = ParseLayoutCondition("where", text);
    ASSERT_TRUE(condition.ok()) << condition.status();
    const LayoutMatcher matcher(*condition);
    EXPECT_EQ(matcher.Matches(from_), layout == from_) << text;
    EXPECT_EQ(matcher.Matches(to_), layout == to_) << text;
  }
}

TEST_P(EachKey, DividesIntoGroups) {
  GroupBests groups({GetParam()}, Merit::kSpeed);
  groups.Count(from_);
  groups.Count(to_);
  const std::vector<GroupBest> found = groups.Take(10);
  EXPECT_EQ(found.size(), 2u);
}

TEST_P(EachKey, HasALineOfHelpAndAColumn) {
  EXPECT_FALSE(key_.help.empty());
  EXPECT_FALSE(key_.column.empty());
  EXPECT_EQ(FindKey(key_.name), &key_);
}

INSTANTIATE_TEST_SUITE_P(Keys, EachKey, testing::Range(size_t{0}, kLayoutKeyCount),
                         [](const testing::TestParamInfo<size_t>& test) {
                           return std::string(kLayoutKeys[test.param].name);
                         });

TEST(LayoutKeys, HavePlacesOfTheirOwnAmongChanges) {
  std::set<int32_t> places;
  for (const LayoutKey& key : kLayoutKeys) EXPECT_TRUE(places.insert(key.change_order).second);
}

TEST(LayoutKeys, OfAxesAreInTheOrderOfTheEnumerators) {
  EXPECT_EQ(KeyOf(Axis::kTp).name, "tp");
  EXPECT_EQ(KeyOf(Axis::kCp).name, "cp");
  EXPECT_EQ(KeyOf(Axis::kPp).name, "pp");
  EXPECT_EQ(KeyOf(Axis::kDp).name, "dp");
}

}  // namespace
}  // namespace meshwright::planner
