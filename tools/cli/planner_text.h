// How estimates look on a terminal.
#pragma once

#include <ostream>

#include "planner/report/answers.h"

namespace meshwright {

void PrintRecommendation(const PlanQuery& query, const RecommendAnswer& answer, double elapsed_s,
                         std::ostream& out);
void PrintEstimate(const PlanQuery& query, const EstimateAnswer& answer, std::ostream& out);

}  // namespace meshwright
