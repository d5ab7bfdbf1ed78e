// How `meshwright validate` reads on a terminal.
#pragma once

#include <ostream>

#include "planner/measurement/refusals.h"
#include "planner/measurement/validation.h"

namespace meshwright::cli {

// What was read, a table about memory, one about speed, and why rows were not modelled. Of many
// sweeps the largest are shown, and how many are left out.
void PrintValidation(const planner::ValidationReport& report, const planner::Refusals& refusals,
                     std::ostream& out);

}  // namespace meshwright::cli
