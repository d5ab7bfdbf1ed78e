// AllConditionFields() describes the fields that conditions may use.
#pragma once

#include "meshwright/v1/planner.pb.h"

namespace meshwright::server {

// Returns the fields of planner::LayoutFields() and db::MeasurementFields().
v1::DescribeConditionsResponse AllConditionFields();

}  // namespace meshwright::server
