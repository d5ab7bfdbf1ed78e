// Prints why rows of measurements were not modelled.
#pragma once

#include <ostream>
#include <string_view>

#include "planner/measurement/refusals.h"

namespace meshwright::cli {

// Prints the unreadable rows with file and line, then the causes for which other rows were not
// modelled. Prints nothing if there are no such rows. Long lists are cut. `all_in` says where the
// complete lists are; it may be empty.
void PrintRefusals(const planner::Refusals& refusals, std::string_view all_in, std::ostream& out);

}  // namespace meshwright::cli
