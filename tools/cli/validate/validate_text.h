// PrintValidation() prints the report of `meshwright validate` as text.
#pragma once

#include <ostream>

#include "planner/measurement/refusals.h"
#include "planner/measurement/validation.h"

namespace meshwright::cli {

// Prints what was read, a table about memory, a table about speed, and why rows were not modelled.
// If there are many sweeps, prints only the largest ones and the number of the others.
void PrintValidation(const planner::ValidationReport& report, const planner::Refusals& refusals,
                     std::ostream& out);

}  // namespace meshwright::cli
