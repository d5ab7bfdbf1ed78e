// The parts of a step's time on the wire: fields of the same names as the planner's parts.
#pragma once

#include "planner/cost/time_part.h"
#include "meshwright/v1/plan.pb.h"

namespace meshwright::agent {

v1::TimeParts TimePartsToWire(const planner::TimeParts& parts);
planner::TimeParts TimePartsFromWire(const v1::TimeParts& parts);

}  // namespace meshwright::agent
