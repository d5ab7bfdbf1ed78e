#include "executor/agent/wire_time.h"

#include <google/protobuf/descriptor.h>
#include <google/protobuf/message.h>

#include <string>

namespace meshwright::agent {
namespace {

const google::protobuf::FieldDescriptor* FieldOf(const google::protobuf::Message& message,
                                                 planner::TimePart part) {
  return message.GetDescriptor()->FindFieldByName(std::string(planner::TimePartKey(part)));
}

}  // namespace

v1::TimeParts TimePartsToWire(const planner::TimeParts& parts) {
  v1::TimeParts out;
  for (const planner::TimePart part : planner::kTimeParts) {
    out.GetReflection()->SetDouble(&out, FieldOf(out, part), parts[part]);
  }
  return out;
}

planner::TimeParts TimePartsFromWire(const v1::TimeParts& parts) {
  planner::TimeParts out;
  for (const planner::TimePart part : planner::kTimeParts) {
    out[part] = parts.GetReflection()->GetDouble(parts, FieldOf(parts, part));
  }
  return out;
}

}  // namespace meshwright::agent
