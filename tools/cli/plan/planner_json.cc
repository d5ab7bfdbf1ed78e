#include "tools/cli/plan/planner_json.h"

#include <string>

#include "planner/codec/json_codec.h"
#include "tools/cli/plan/answer_text.h"

namespace meshwright::cli {

using nlohmann::ordered_json;
using planner::WriteOrderedJson;

ordered_json ToJson(const planner::PlanQuery& query, const planner::RecommendAnswer& answer,
                    double elapsed_s) {
  return WriteOrderedJson(RecommendText{{query}, answer, elapsed_s});
}

ordered_json ToJson(const planner::PlanQuery& query, const planner::EstimateAnswer& answer,
                    double elapsed_s) {
  return WriteOrderedJson(EstimateText{{query}, answer, elapsed_s});
}

ordered_json ToJson(const planner::PlanQuery& query, const planner::CompareAnswer& answer,
                    double elapsed_s) {
  return WriteOrderedJson(CompareText{{query}, answer, elapsed_s});
}

ordered_json ToJson(const planner::PlanQuery& query, const planner::StudyAnswer& answer,
                    double elapsed_s) {
  return WriteOrderedJson(StudyText{{query}, answer, elapsed_s});
}

ordered_json ToJson(const planner::FastestQuery& query, const planner::FastestAnswer& answer,
                    double elapsed_s) {
  return WriteOrderedJson(FastestText{{query}, answer, elapsed_s});
}

ordered_json ToJson(const planner::PlanQuery& query, const std::string& layout,
                    const planner::FitAnswer& answer, double elapsed_s) {
  return WriteOrderedJson(FitText{{query, layout}, answer, elapsed_s});
}

ordered_json ToJson(const planner::ScaleQuery& query, const planner::ScaleAnswer& answer,
                    double elapsed_s) {
  return WriteOrderedJson(ScaleText{{query}, answer, elapsed_s});
}

}  // namespace meshwright::cli
