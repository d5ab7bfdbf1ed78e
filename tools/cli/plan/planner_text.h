// These functions print the answers of `recommend` and `estimate`, and the lines that all answers
// share.
#pragma once

#include <ostream>
#include <string>
#include <vector>

#include "planner/report/answers.h"
#include "planner/scaling/device_range.h"

namespace meshwright::cli {

// Prints the first line of an answer: model, devices, training and framework of the query.
void PrintHeadline(const planner::PlanQuery& query, int64_t parameters, std::ostream& out);
void PrintHeadline(const planner::PlanQuery& query, const planner::ParameterCounts& parameters,
                   std::ostream& out);
// Prints the first line of an answer about several numbers of devices. `batch` describes their
// batches in words.
void PrintScaleHeadline(const planner::PlanQuery& query, const planner::DeviceRange& range,
                        int64_t parameters, const std::string& batch, std::ostream& out);
// Prints the evidence behind the answer's figures, and the notes.
void PrintNotes(const planner::RestsOn& rests_on, const std::vector<std::string>& notes,
                std::ostream& out);

void PrintRecommendation(const planner::PlanQuery& query, const planner::RecommendAnswer& answer,
                         double elapsed_s, std::ostream& out);
void PrintEstimate(const planner::PlanQuery& query, const planner::EstimateAnswer& answer,
                   std::ostream& out);

}  // namespace meshwright::cli
