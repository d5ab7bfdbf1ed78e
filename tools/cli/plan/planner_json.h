// ToJson() converts the planner's answers to JSON, by their fields (tools/cli/plan/answer_text.h).
#pragma once

#include <string>

#include "nlohmann/json.hpp"
#include "planner/report/answers.h"
#include "planner/report/comparison.h"
#include "planner/report/fastest_report.h"
#include "planner/report/limits_report.h"
#include "planner/report/scale_report.h"
#include "planner/report/study_report.h"

namespace meshwright::cli {

nlohmann::ordered_json ToJson(const planner::PlanQuery& query,
                              const planner::RecommendAnswer& answer, double elapsed_s);
// Returns the layout's own keys, as in recommend's `layouts`, and further keys that explain them.
nlohmann::ordered_json ToJson(const planner::PlanQuery& query,
                              const planner::EstimateAnswer& answer, double elapsed_s);

nlohmann::ordered_json ToJson(const planner::PlanQuery& query, const planner::CompareAnswer& answer,
                              double elapsed_s);
nlohmann::ordered_json ToJson(const planner::PlanQuery& query, const planner::StudyAnswer& answer,
                              double elapsed_s);
nlohmann::ordered_json ToJson(const planner::FastestQuery& query,
                              const planner::FastestAnswer& answer, double elapsed_s);
nlohmann::ordered_json ToJson(const planner::PlanQuery& query, const std::string& layout,
                              const planner::FitAnswer& answer, double elapsed_s);
nlohmann::ordered_json ToJson(const planner::ScaleQuery& query, const planner::ScaleAnswer& answer,
                              double elapsed_s);

}  // namespace meshwright::cli
