#include "executor/trial/rank_event_fields.h"

#include <array>
#include <string_view>

#include "planner/base/status_macros.h"
#include "planner/codec/json_codec.h"

namespace meshwright::trial {
namespace {

// By the variant's alternative.
constexpr std::array<std::string_view, std::variant_size_v<RankEvent>> kKinds = {
    "", "hello", "begin", "step", "done", "oom", "error"};

// `event` is the key of every event.
struct EventKind {
  std::string kind;
};
template <planner::ConstOr<EventKind> Kind, typename Visitor>
void VisitFields(Kind& kind, Visitor& visit) {
  visit(planner::Needed("event"), kind.kind);
}

template <size_t kAlternative>
absl::StatusOr<RankEvent> Read(std::string_view kind, const nlohmann::json& json) {
  if constexpr (kAlternative == kKinds.size()) {
    return RankEvent();
  } else {
    if (kKinds[kAlternative] != kind) return Read<kAlternative + 1>(kind, json);
    std::variant_alternative_t<kAlternative, RankEvent> event;
    RETURN_IF_ERROR(planner::ReadJson("event", json, planner::UnknownKeys::kPassOver, event));
    return RankEvent(std::move(event));
  }
}

nlohmann::json FieldsOf(const std::monostate&) { return nlohmann::json::object(); }
template <planner::HasFields Event>
nlohmann::json FieldsOf(const Event& event) {
  return planner::WriteJson(event);
}

}  // namespace

nlohmann::json ToJson(const RankEvent& event) {
  nlohmann::json json = std::visit([](const auto& what) { return FieldsOf(what); }, event);
  json["event"] = std::string(kKinds[event.index()]);
  return json;
}

absl::StatusOr<RankEvent> RankEventFromJson(const nlohmann::json& json) {
  EventKind kind;
  RETURN_IF_ERROR(planner::ReadJson("event", json, planner::UnknownKeys::kPassOver, kind));
  return Read<1>(kind.kind, json);
}

}  // namespace meshwright::trial
