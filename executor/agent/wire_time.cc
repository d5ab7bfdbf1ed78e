#include "executor/agent/wire_time.h"

#include <google/protobuf/descriptor.h>

#include <string>

namespace meshwright::agent {
namespace {

const google::protobuf::FieldDescriptor* FieldOf(const google::protobuf::Message& message,
                                                 planner::TimePart part) {
  return message.GetDescriptor()->FindFieldByName(std::string(planner::TimePartKey(part)));
}

}  // namespace

void TimePartsToWire(const planner::TimeParts& parts, google::protobuf::Message& message) {
  for (const planner::TimePart part : planner::kTimeParts) {
    message.GetReflection()->SetDouble(&message, FieldOf(message, part), parts[part]);
  }
}

planner::TimeParts TimePartsFromWire(const google::protobuf::Message& message) {
  planner::TimeParts parts;
  for (const planner::TimePart part : planner::kTimeParts) {
    parts[part] = message.GetReflection()->GetDouble(message, FieldOf(message, part));
  }
  return parts;
}

}  // namespace meshwright::agent
