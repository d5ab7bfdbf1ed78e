#include "tools/library/event_queue.h"

#include <utility>

#include "absl/strings/str_cat.h"

namespace meshwright::library {
namespace {

const char* KindName(Event::Kind kind) {
  switch (kind) {
    case Event::Kind::kProgress:
      return "progress";
    case Event::Kind::kOutput:
      return "output";
    case Event::Kind::kDone:
      return "done";
  }
  return "";
}

}  // namespace

std::string JsonLine(const nlohmann::ordered_json& json) {
  return json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

std::string Event::ToText() const { return absl::StrCat("{\"", KindName(kind), "\": ", json, "}"); }

void EventQueue::Add(Event event) {
  const absl::MutexLock lock(&mutex_);
  if (ended_) return;
  ended_ = event.kind == Event::Kind::kDone;
  const bool replaces = event.kind == Event::Kind::kProgress && !events_.empty() &&
                        events_.back().kind == Event::Kind::kProgress;
  if (replaces) {
    events_.back() = std::move(event);
  } else {
    events_.push_back(std::move(event));
  }
}

std::optional<Event> EventQueue::Next(absl::Duration timeout) {
  const absl::MutexLock lock(&mutex_);
  const auto ready = [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    return !events_.empty() || ended_;
  };
  mutex_.AwaitWithTimeout(absl::Condition(&ready), timeout);
  if (events_.empty()) return std::nullopt;
  Event event = std::move(events_.front());
  events_.pop_front();
  return event;
}

}  // namespace meshwright::library
