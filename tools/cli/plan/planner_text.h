// Prints estimates on a terminal.
#pragma once

#include <ostream>
#include <string>
#include <vector>

#include "planner/report/answers.h"
#include "planner/scaling/device_range.h"

namespace meshwright::cli {

// Prints the lines that begin every answer: the query, and what its figures rest on.
void PrintHeadline(const planner::PlanQuery& query, int64_t parameters, std::ostream& out);
// `batch` says in words which batches the sizes train.
void PrintScaleHeadline(const planner::PlanQuery& query, const planner::DeviceRange& range,
                        int64_t parameters, const std::string& batch, std::ostream& out);
void PrintNotes(const planner::RestsOn& rests_on, const std::vector<std::string>& notes,
                std::ostream& out);

void PrintRecommendation(const planner::PlanQuery& query, const planner::RecommendAnswer& answer,
                         double elapsed_s, std::ostream& out);
void PrintEstimate(const planner::PlanQuery& query, const planner::EstimateAnswer& answer,
                   std::ostream& out);

}  // namespace meshwright::cli
