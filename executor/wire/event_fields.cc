#include "executor/wire/event_fields.h"

#include <utility>

#include "base/text/json_text.h"
#include "executor/wire/message_codec.h"
#include "planner/codec/json_codec.h"

namespace meshwright::wire {
namespace {

nlohmann::json FieldsOf(const std::monostate&) { return nlohmann::json::object(); }
template <planner::HasFields Details>
nlohmann::json FieldsOf(const Details& details) {
  return planner::WriteJson(details);
}

template <typename Details>
EventDetails ReadText(const nlohmann::json& json) {
  Details details;
  if (!planner::ReadJson("data", json, planner::UnknownKeys::kPassOver, details).ok()) return {};
  return details;
}

template <typename Details>
EventDetails ReadDetails(const google::protobuf::Message& message) {
  absl::StatusOr<Details> details = ReadMessage<Details>(message);
  if (!details.ok()) return {};
  return *std::move(details);
}

void Set(const std::monostate&, v1::SweepEvent*) {}
void Set(const TrialPlaced& placed, v1::SweepEvent* event) {
  *event->mutable_placed() = WriteMessage<v1::TrialPlaced>(placed);
}
void Set(const TrialStep& step, v1::SweepEvent* event) {
  *event->mutable_stepped() = WriteMessage<v1::TrialStep>(step);
}
void Set(const TrialLeft& left, v1::SweepEvent* event) {
  *event->mutable_left() = WriteMessage<v1::TrialLeft>(left);
}
void Set(const trial::TrialResult& result, v1::SweepEvent* event) {
  *event->mutable_refused() = WriteMessage<v1::Measurement>(result);
}

}  // namespace

nlohmann::json ToJson(const EventDetails& details) {
  return std::visit([](const auto& what) { return FieldsOf(what); }, details);
}

EventDetails EventDetailsFromJson(std::string_view kind, std::string_view text) {
  const absl::StatusOr<nlohmann::json> json = ParseJson("data", text);
  if (!json.ok()) return {};
  if (kind == "trial_assigned" || kind == "trial_running") return ReadText<TrialPlaced>(*json);
  if (kind == "trial_progress") return ReadText<TrialStep>(*json);
  if (kind == "trial_ended" || kind == "trial_requeued") return ReadText<TrialLeft>(*json);
  if (kind == "result_refused") return ReadText<trial::TrialResult>(*json);
  return {};
}

void SetDetails(const EventDetails& details, v1::SweepEvent* event) {
  std::visit([&](const auto& what) { Set(what, event); }, details);
}

EventDetails DetailsOf(const v1::SweepEvent& event) {
  switch (event.details_case()) {
    case v1::SweepEvent::kPlaced:
      return ReadDetails<TrialPlaced>(event.placed());
    case v1::SweepEvent::kStepped:
      return ReadDetails<TrialStep>(event.stepped());
    case v1::SweepEvent::kLeft:
      return ReadDetails<TrialLeft>(event.left());
    case v1::SweepEvent::kRefused:
      return ReadDetails<trial::TrialResult>(event.refused());
    case v1::SweepEvent::DETAILS_NOT_SET:
      break;
  }
  return {};
}

}  // namespace meshwright::wire
