// The parts of a step's time on the wire: a message with a field for each part, of the part's name.
#pragma once

#include "google/protobuf/message.h"
#include "planner/cost/time_part.h"

namespace meshwright::agent {

// Sets the fields of the parts; requires that the message has them all. Other fields stay.
void TimePartsToWire(const planner::TimeParts& parts, google::protobuf::Message& message);
planner::TimeParts TimePartsFromWire(const google::protobuf::Message& message);

}  // namespace meshwright::agent
