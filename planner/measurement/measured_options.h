// Reads the options of a measured run (planner/spec/option_choice.h) from its row.
#pragma once

#include "absl/status/status.h"
#include "planner/measurement/measurement.h"
#include "planner/spec/training_spec.h"

namespace meshwright::planner {

// Sets the options that the row states, and leaves the others as they are. The column of an
// option's name decides. If it is empty, a word NAME=VALUE in the notes does, as "loss=chunked:8",
// and else the words that sources use (NotedOption()). Case does not matter, as sources write
// "dispatcher=DeepEP". Returns InvalidArgument, which names the option and what it takes, if a
// value can't be read.
absl::Status ReadMeasuredOptions(const Measurement& row, TrainingSpec& training);

}  // namespace meshwright::planner
