// MatchingPreset() names the preset that has the sizes which a framework's configuration says.
#pragma once

#include <string>

#include "planner/interchange/settings.h"

namespace meshwright::planner {

// Returns the first preset with these sizes, and an empty text if there is none or if the settings
// lack the number of layers or the width. Sizes that are not said may be any.
std::string MatchingPreset(const Settings& settings);

}  // namespace meshwright::planner
