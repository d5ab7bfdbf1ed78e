#include "executor/trial/rank_event_fields.h"

#include "executor/trial/event_json.h"

namespace meshwright::trial {
namespace {

constexpr EventKinds<RankEvent> kRankEventKinds = {"",     "hello", "begin", "step",
                                                   "done", "oom",   "error"};

}  // namespace

nlohmann::json ToJson(const RankEvent& event) { return EventToJson(kRankEventKinds, event); }

absl::StatusOr<RankEvent> RankEventFromJson(const nlohmann::json& json) {
  return EventFromJson<RankEvent>(kRankEventKinds, json);
}

}  // namespace meshwright::trial
