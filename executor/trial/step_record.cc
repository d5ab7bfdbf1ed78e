#include "executor/trial/step_record.h"

#include <algorithm>

#include "planner/codec/json_text.h"

namespace meshwright::trial {
nlohmann::json ToJson(const TimeSpan& span) { return {span.begin_s, span.end_s}; }

TimeSpan TimeSpanFromJson(const nlohmann::json& json) {
  return {.begin_s = json.at(0), .end_s = json.at(1)};
}

nlohmann::json ToJson(planner::ActionKind kind) {
  return std::string(1, planner::kActionLetters[static_cast<size_t>(kind)]);
}

planner::ActionKind ActionKindFromJson(const nlohmann::json& json) {
  const std::string letter = json;
  const size_t kind = planner::kActionLetters.find(letter);
  if (letter.size() != 1 || kind == std::string_view::npos) {
    throw nlohmann::json::other_error::create(500, "no kind of action: " + planner::ShowJson(json), &json);
  }
  return static_cast<planner::ActionKind>(kind);
}

CommOperation CommOperationFromJson(const nlohmann::json& json) {
  const auto operation = ParseCommOperation(json.get<std::string>());
  if (operation.has_value()) return *operation;
  throw nlohmann::json::other_error::create(500, "no operation: " + planner::ShowJson(json), &json);
}

double BeganAt(const CommunicationSpan& span, double previous_done_s) {
  return std::clamp(previous_done_s, span.issued_s, std::max(span.issued_s, span.done_s));
}

// Lists instead of objects: a long step has tens of thousands of spans.
nlohmann::json ToJson(const StepRecord& record) {
  nlohmann::json actions = nlohmann::json::array();
  for (const ActionSpan& span : record.actions) {
    actions.push_back({ToJson(span.action.kind), span.action.micro_batch, span.action.chunk,
                       ToJson(span.time), span.communication_s});
  }
  nlohmann::json communication = nlohmann::json::array();
  for (const CommunicationSpan& span : record.communication) {
    communication.push_back({span.group, std::string(CommOperationName(span.operation)), span.peer,
                             span.bytes, span.issued_s, ToJson(span.wait), span.done_s,
                             span.returned_s});
  }
  return {{"step", ToJson(record.step)},
          {"phases", ToJson(record.phases)},
          {"actions", std::move(actions)},
          {"optimizer", ToJson(record.optimizer)},
          {"communication", std::move(communication)}};
}

StepRecord StepRecordFromJson(const nlohmann::json& json) {
  StepRecord record;
  record.step = TimeSpanFromJson(json.at("step"));
  record.phases = PhasesFromJson(json.at("phases"));
  for (const nlohmann::json& span : json.at("actions")) {
    record.actions.push_back({.action = {.kind = ActionKindFromJson(span.at(0)),
                                         .micro_batch = span.at(1),
                                         .chunk = span.at(2)},
                              .time = TimeSpanFromJson(span.at(3)),
                              .communication_s = span.at(4)});
  }
  record.optimizer = TimeSpanFromJson(json.at("optimizer"));
  for (const nlohmann::json& span : json.at("communication")) {
    record.communication.push_back({.group = span.at(0),
                                    .operation = CommOperationFromJson(span.at(1)),
                                    .peer = span.at(2),
                                    .bytes = span.at(3),
                                    .issued_s = span.at(4),
                                    .returned_s = span.at(7),
                                    .wait = TimeSpanFromJson(span.at(5)),
                                    .done_s = span.at(6)});
  }
  return record;
}

}  // namespace meshwright::trial
