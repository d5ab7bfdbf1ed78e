// Matches the entries of files with the rows of a framework's tables, and chooses a value for each
// setting that they say.
#pragma once

#include "planner/interchange/import_state.h"

namespace meshwright::planner {

// Gives each entry its status, and collects the values that they leave for settings.
void MatchEntries(ImportState& state);

// Narrows the values of every setting by the names that are left out, and chooses the likeliest.
// Asks for what the framework's files must say.
void ChooseValues(ImportState& state);

}  // namespace meshwright::planner
