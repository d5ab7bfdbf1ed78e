// Prints why rows of measurements were not modelled.
#pragma once

#include <ostream>
#include <string_view>

#include "planner/measurement/refusals.h"

namespace meshwright::cli {

// Prints unreadable rows with file and line, then the causes for which others were not modelled;
// nothing where there are none. Long lists are cut; `all_in` names where the complete ones are,
// empty for nowhere.
void PrintRefusals(const planner::Refusals& refusals, std::string_view all_in, std::ostream& out);

}  // namespace meshwright::cli
