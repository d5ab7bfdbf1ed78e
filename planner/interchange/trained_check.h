// CheckTrained() tells whether a framework has names for the weights that a run trains.
#pragma once

#include "absl/status/status.h"
#include "planner/interchange/framework.h"
#include "planner/spec/trained_parts.h"

namespace meshwright::planner {

// Returns InvalidArgument about `train` if the framework has no names for the trained weights.
absl::Status CheckTrained(const Framework& framework, const TrainedParts& parts);

}  // namespace meshwright::planner
