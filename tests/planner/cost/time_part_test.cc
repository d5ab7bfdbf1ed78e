#include "planner/cost/time_part.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace meshwright::planner {
namespace {

TEST(TimePart, EachHasAKeyOfItsOwnInTheOrderOfTheEnumerators) {
  std::set<std::string_view> keys;
  for (size_t i = 0; i < kTimeParts.size(); ++i) {
    EXPECT_EQ(static_cast<size_t>(kTimeParts[i]), i);
    EXPECT_EQ(TimePartKey(kTimeParts[i]), std::string(PartName(kTimeParts[i])) + "_s");
    keys.insert(TimePartKey(kTimeParts[i]));
  }
  EXPECT_EQ(keys.size(), kTimeParts.size());
  EXPECT_EQ(PartName(TimePart::kCompute), "compute");
  EXPECT_EQ(PartName(TimePart::kOptimizer), "optimizer");
}

TEST(TimeParts, AddUpAndScale) {
  TimeParts parts = {{TimePart::kCompute, 2.0}, {TimePart::kBubble, 1.0}};
  EXPECT_EQ(parts[TimePart::kTp], 0.0);
  parts.Add({{TimePart::kTp, 0.5}, {TimePart::kBubble, 0.25}}, 2.0);
  EXPECT_EQ(parts,
            TimeParts({{TimePart::kCompute, 2.0}, {TimePart::kTp, 1.0}, {TimePart::kBubble, 1.5}}));
  EXPECT_EQ(parts.total_s(), 4.5);
}

TEST(TimeParts, AreVisitedByKey) {
  TimeParts parts;
  double seconds = 0.0;
  const auto count = [&](std::string_view, double& value) { value = ++seconds; };
  VisitFields(parts, count);
  EXPECT_EQ(parts[TimePart::kCompute], 1.0);
  EXPECT_EQ(parts[TimePart::kOptimizer], 12.0);
  const TimeParts& read = parts;
  double bubble_s = 0.0;
  const auto find = [&](std::string_view key, double value) {
    if (key == "bubble_s") bubble_s = value;
  };
  VisitFields(read, find);
  EXPECT_EQ(bubble_s, 9.0);
}

}  // namespace
}  // namespace meshwright::planner
