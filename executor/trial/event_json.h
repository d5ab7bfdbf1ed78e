// EventToJson() and EventFromJson() convert worker events to JSON and back. An event is one
// alternative of a variant. Its JSON has the alternative's fields, and the name of its kind under
// the key `event`.
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include "absl/status/statusor.h"
#include "base/text/status_macros.h"
#include "nlohmann/json.hpp"
#include "planner/codec/json_codec.h"

namespace meshwright::trial {

// The key `event`, which every event has.
struct EventKind {
  std::string kind;
};
template <planner::ConstOr<EventKind> Kind, typename Visitor>
void VisitFields(Kind& kind, Visitor& visit) {
  visit(planner::Needed("event"), kind.kind);
}

// The kinds of a variant's alternatives, by index. The first alternative stands for no event.
template <typename Event>
using EventKinds = std::array<std::string_view, std::variant_size_v<Event>>;

template <typename Event>
nlohmann::json EventToJson(const EventKinds<Event>& kinds, const Event& event) {
  nlohmann::json json = nlohmann::json::object();
  std::visit(
      [&json](const auto& what) {
        if constexpr (planner::HasFields<decltype(what)>) json = planner::WriteJson(what);
      },
      event);
  json["event"] = std::string(kinds[event.index()]);
  return json;
}

template <typename Event, size_t kAlternative = 1>
absl::StatusOr<Event> ReadEvent(const EventKinds<Event>& kinds, std::string_view kind,
                                const nlohmann::json& json) {
  if constexpr (kAlternative == std::variant_size_v<Event>) {
    return Event();
  } else {
    if (kinds[kAlternative] != kind) return ReadEvent<Event, kAlternative + 1>(kinds, kind, json);
    std::variant_alternative_t<kAlternative, Event> event;
    RETURN_IF_ERROR(planner::ReadJson("event", json, planner::UnknownKeys::kPassOver, event));
    return Event(std::move(event));
  }
}

// Returns the variant's first alternative for an unknown kind.
template <typename Event>
absl::StatusOr<Event> EventFromJson(const EventKinds<Event>& kinds, const nlohmann::json& json) {
  EventKind kind;
  RETURN_IF_ERROR(planner::ReadJson("event", json, planner::UnknownKeys::kPassOver, kind));
  return ReadEvent<Event>(kinds, kind.kind, json);
}

}  // namespace meshwright::trial
