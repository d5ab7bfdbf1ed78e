#include "executor/agent/wire_time.h"

#include <google/protobuf/descriptor.h>
#include <gtest/gtest.h>

namespace meshwright::agent {
namespace {

// One table of names stands behind the message as well.
TEST(WireTimeTest, TheMessageHasAFieldOfEachPartsNameAndNoOther) {
  const google::protobuf::Descriptor& message = *v1::TimeParts::descriptor();
  ASSERT_EQ(message.field_count(), static_cast<int>(planner::kTimeParts.size()));
  for (int i = 0; i < message.field_count(); ++i) {
    EXPECT_EQ(message.field(i)->name(), planner::TimePartKey(planner::kTimeParts[i]));
  }
}

TEST(WireTimeTest, PartsComeBack) {
  planner::TimeParts parts;
  double seconds = 0.0;
  for (const planner::TimePart part : planner::kTimeParts) parts[part] = seconds += 0.125;
  EXPECT_EQ(TimePartsFromWire(TimePartsToWire(parts)), parts);
  EXPECT_EQ(TimePartsToWire(parts).bubble_s(), 0.875);
}

}  // namespace
}  // namespace meshwright::agent
