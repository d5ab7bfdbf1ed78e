#include "planner/report/explain_json.h"

#include <string>

#include "planner/codec/json_codec.h"
#include "planner/report/answer_fields.h"

namespace meshwright::planner {

using nlohmann::ordered_json;

void AddExplanation(const RankedLayout& ranked, const Explanation& explanation,
                    ordered_json& object) {
  object["stages"] = ordered_json::array();
  for (const StageMemory& stage : explanation.stages) {
    object["stages"].push_back(WriteOrderedJson(stage));
  }
  object["binding"] = WriteOrderedJson(BindingReportOf(ranked));
  object["smallest_change"] = nullptr;
  object["neighbours_tried"] = explanation.neighbours.tried;
  if (const auto& smallest = explanation.neighbours.smallest) {
    object["smallest_change"] = {{"layout", FormatLayout(smallest->layout)},
                                 {"changes", DescribeChanges(ranked.layout, smallest->layout)},
                                 {"total_bytes", smallest->estimate.memory.total_bytes()},
                                 {"step_s", smallest->estimate.time.step_s()}};
  }
}

}  // namespace meshwright::planner
