// PrintRecommendation() prints the answer of `recommend` as text.
#pragma once

#include <ostream>

#include "planner/catalog/plan_query.h"
#include "planner/report/answers.h"
#include "tools/cli/common/text_style.h"

namespace meshwright::cli {

// Prints the best layout in a sentence, one table, and the evidence for the answer. With details,
// prints everything that the answer has.
void PrintRecommendation(const planner::PlanQuery& query, const planner::RecommendAnswer& answer,
                         double elapsed_s, const TextStyle& style, std::ostream& out);

}  // namespace meshwright::cli
