#include "executor/agent/wire_time.h"

#include <google/protobuf/descriptor.h>
#include <gtest/gtest.h>

#include <string>

#include "meshwright/v1/plan.pb.h"

namespace meshwright::agent {
namespace {

// One table of names stands behind the message as well: beside their sum it holds nothing else.
TEST(WireTimeTest, TheMessageHasAFieldOfEachPartsNameAndTheirSum) {
  const google::protobuf::Descriptor& message = *v1::TimeEstimate::descriptor();
  EXPECT_EQ(message.field_count(), static_cast<int>(planner::kTimeParts.size()) + 1);
  EXPECT_NE(message.FindFieldByName("step_s"), nullptr);
  for (const planner::TimePart part : planner::kTimeParts) {
    EXPECT_NE(message.FindFieldByName(std::string(planner::TimePartKey(part))), nullptr)
        << planner::TimePartKey(part);
  }
}

TEST(WireTimeTest, PartsComeBack) {
  planner::TimeParts parts;
  double seconds = 0.0;
  for (const planner::TimePart part : planner::kTimeParts) parts[part] = seconds += 0.125;
  v1::TimeEstimate message;
  TimePartsToWire(parts, message);
  EXPECT_EQ(TimePartsFromWire(message), parts);
  EXPECT_EQ(message.bubble_s(), 0.875);
}

}  // namespace
}  // namespace meshwright::agent
