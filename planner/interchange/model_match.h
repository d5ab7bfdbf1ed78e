// MatchingPreset() finds the preset whose sizes are those in a framework's configuration.
#pragma once

#include <string>

#include "planner/interchange/settings.h"

namespace meshwright::planner {

// Returns the name of the preset with these sizes; if several presets have them, the first. A size
// that the settings lack matches any size. Returns an empty text (1) if no preset matches, (2) if
// the settings lack the number of layers or the width, or (3) if several presets match and the
// settings lack the width of the FFN or the vocabulary.
std::string MatchingPreset(const Settings& settings);

}  // namespace meshwright::planner
