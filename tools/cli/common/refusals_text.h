// PrintRefusals() prints why rows of measurements were not modelled.
#pragma once

#include <ostream>
#include <string_view>

#include "planner/measurement/refusals.h"

namespace meshwright::cli {

// Prints the unreadable rows with file and line, and then the reasons why other rows were not
// modelled. Prints nothing if all rows were modelled. Long lists are cut; `all_in`, which may be
// empty, says where the complete lists are.
void PrintRefusals(const planner::Refusals& refusals, std::string_view all_in, std::ostream& out);

}  // namespace meshwright::cli
