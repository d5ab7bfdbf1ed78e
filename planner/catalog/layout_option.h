// SetLayoutOption() sets an option of the run that a question gives for one layout alone.
#pragma once

#include <string_view>

#include "absl/status/status.h"
#include "planner/spec/training_spec.h"

namespace meshwright::planner {

// Sets the option of `training` by its flag's text. Returns the errors of SetOption()
// (planner/spec/option_choice.h). Returns InvalidArgument about `field` if the value is about
// another profile of the framework: all layouts of a question have the same profile.
absl::Status SetLayoutOption(std::string_view field, std::string_view name, std::string_view value,
                             TrainingSpec& training);

}  // namespace meshwright::planner
