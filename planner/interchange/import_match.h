// Matches the entries of files with the rows of a framework's tables, and chooses a value for each
// setting that the entries give.
#pragma once

#include "planner/interchange/import_state.h"

namespace meshwright::planner {

// Gives each entry its status, and collects the values of each setting that the entries leave
// possible.
void MatchEntries(ImportState& state);

// Narrows the values of every setting by the names that the files leave out, and chooses the
// likeliest value. Asks for each of Framework::needed that has no value.
void ChooseValues(ImportState& state);

}  // namespace meshwright::planner
