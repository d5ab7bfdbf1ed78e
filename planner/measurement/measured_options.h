// Reads the options of a measured run (planner/spec/option_choice.h) from its row.
#pragma once

#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "planner/measurement/measurement.h"
#include "planner/spec/training_spec.h"

namespace meshwright::planner {

// Returns the value of an option that the row states, in lower case, such as "deepep"; empty if the
// row states none. The column with the option's name comes first. If that column is empty, a word
// NAME=VALUE in the notes counts, such as "loss=chunked:8". If there is no such word, the words
// that sources use count (NotedOption()).
std::string StatedOption(const Measurement& row, std::string_view option);

// Sets the options that the row states, and leaves the others as they are. Returns InvalidArgument,
// which names the option and the values that it accepts, if a value can't be read.
absl::Status ReadMeasuredOptions(const Measurement& row, TrainingSpec& training);

}  // namespace meshwright::planner
