// MatchingPreset() names the preset that has the sizes which a framework's configuration says.
#pragma once

#include <string>

#include "planner/interchange/settings.h"

namespace meshwright::planner {

// Returns the preset with these sizes, or the first of those that differ in no size. Sizes that are
// not said may be any. Returns an empty text if there is none, if the settings lack the number of
// layers or the width, or if several presets are possible because FFN or vocabulary are not said.
std::string MatchingPreset(const Settings& settings);

}  // namespace meshwright::planner
