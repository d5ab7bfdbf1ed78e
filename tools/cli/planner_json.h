// The planner's answers as JSON.
#pragma once

#include "nlohmann/json.hpp"
#include "planner/report/answers.h"

namespace meshwright {

nlohmann::ordered_json ToJson(const PlanQuery& query, const RecommendAnswer& answer,
                              double elapsed_s);
// The layout's own keys, as in recommend's `layouts`, and beside them what explains them.
nlohmann::ordered_json ToJson(const PlanQuery& query, const EstimateAnswer& answer,
                              double elapsed_s);

}  // namespace meshwright
