// PrintEstimate() prints the answer of `estimate` as text.
#pragma once

#include <ostream>

#include "planner/catalog/plan_query.h"
#include "planner/report/answers.h"
#include "tools/cli/common/text_style.h"

namespace meshwright::cli {

// Prints a verdict, one table of memory and time, and what limits the layout. With details, prints
// everything that the answer has.
void PrintEstimate(const planner::PlanQuery& query, const planner::EstimateAnswer& answer,
                   const TextStyle& style, std::ostream& out);

}  // namespace meshwright::cli
