// How estimates look on a terminal.
#pragma once

#include <ostream>

#include "planner/report/answers.h"

namespace meshwright::cli {

void PrintRecommendation(const planner::PlanQuery& query, const planner::RecommendAnswer& answer,
                         double elapsed_s, std::ostream& out);
void PrintEstimate(const planner::PlanQuery& query, const planner::EstimateAnswer& answer,
                   std::ostream& out);

}  // namespace meshwright::cli
