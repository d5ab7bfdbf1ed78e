#include "executor/trial/rank_result.h"

#include <utility>

#include "planner/codec/json_fields.h"
#include "planner/base/field_error.h"
#include "planner/base/status_macros.h"

namespace meshwright::trial {
namespace {

absl::Status ReadMeasured(const nlohmann::json& json, RankResult& rank) {
  try {
    rank.device_memory = DeviceMemoryUseFromJson(json);
    if (json.contains("phases")) rank.phases = PhasesFromJson(json["phases"]);
    if (!json.contains("communication")) return absl::OkStatus();
    for (const nlohmann::json& total : json["communication"]) {
      rank.communication.push_back(CommunicationFromJson(total));
    }
  } catch (const nlohmann::json::exception& error) {
    return FieldError("ranks", error.what(), "expected phases, communication and bytes");
  }
  return absl::OkStatus();
}

}  // namespace

nlohmann::json ToJson(const RankResult& rank) {
  nlohmann::json communication = nlohmann::json::array();
  for (const CommunicationTotal& total : rank.communication) {
    communication.push_back(ToJson(total));
  }
  nlohmann::json json = {{"rank", rank.rank},
                         {"pipeline_rank", rank.pipeline_rank},
                         {"peak_bytes", rank.peak_bytes},
                         {"estimated_bytes", rank.estimated_bytes},
                         {"estimated_communicator_bytes", rank.estimated_communicator_bytes},
                         {"peak_in_flight", rank.peak_in_flight},
                         {"phases", ToJson(rank.phases)},
                         {"communication", std::move(communication)}};
  AddToJson(rank.device_memory, json);
  return json;
}

absl::StatusOr<RankResult> RankResultFromJson(const nlohmann::json& json) {
  planner::JsonFields fields(json, "ranks.");
  RankResult rank{.rank = static_cast<int32_t>(fields.Int("rank")),
                  .pipeline_rank = static_cast<int32_t>(fields.Int("pipeline_rank")),
                  .peak_bytes = fields.Int("peak_bytes"),
                  .estimated_bytes = fields.Int("estimated_bytes"),
                  .peak_in_flight = static_cast<int32_t>(fields.IntOr("peak_in_flight", 0)),
                  .estimated_communicator_bytes = fields.IntOr("estimated_communicator_bytes", 0)};
  RETURN_IF_ERROR(fields.status());
  RETURN_IF_ERROR(ReadMeasured(json, rank));
  return rank;
}

}  // namespace meshwright::trial
