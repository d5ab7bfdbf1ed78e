#include "planner/report/explain_json.h"

#include <optional>
#include <string>

#include "planner/codec/json_codec.h"
#include "planner/report/answer_fields.h"

namespace meshwright::planner {

using nlohmann::ordered_json;

namespace {

template <typename T>
ordered_json JsonOrNull(const std::optional<T>& part) {
  return part ? WriteOrderedJson(*part) : ordered_json(nullptr);
}

}  // namespace

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
  object["other_imbalance"] = JsonOrNull(explanation.other_imbalance);
  object["experts"] = JsonOrNull(explanation.experts);
  object["latent_attention"] = JsonOrNull(explanation.latent_attention);
  object["offload"] = JsonOrNull(explanation.offload);
}

}  // namespace meshwright::planner
