// Prints the report of `meshwright validate` on a terminal.
#pragma once

#include <ostream>

#include "planner/measurement/refusals.h"
#include "planner/measurement/validation.h"

namespace meshwright::cli {

// Prints what was read, a table about memory, one about speed, and why rows were not modelled. Of
// many sweeps only the largest are shown, with the number of those left out.
void PrintValidation(const planner::ValidationReport& report, const planner::Refusals& refusals,
                     std::ostream& out);

}  // namespace meshwright::cli
