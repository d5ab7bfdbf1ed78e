// EventQueue passes a task's events from the threads that produce them to a thread that waits for
// them.
#pragma once

#include <deque>
#include <optional>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "nlohmann/json.hpp"

namespace meshwright::library {

struct Event {
  enum class Kind { kProgress, kOutput, kDone };

  Kind kind = Kind::kDone;
  std::string json;

  // Returns {"output": …}.
  std::string ToText() const;
};

class EventQueue {
 public:
  // Adds an event. Does nothing after the event kDone, which is the last one. Progress that nobody
  // has taken yet is replaced by later progress, so that it does not pile up if nobody takes it.
  void Add(Event event);

  // Returns the next event. Returns nullopt if no event comes within `timeout`, or if the last
  // event was taken before.
  std::optional<Event> Next(absl::Duration timeout);

 private:
  absl::Mutex mutex_;
  std::deque<Event> events_ ABSL_GUARDED_BY(mutex_);
  bool ended_ ABSL_GUARDED_BY(mutex_) = false;
};

// Returns JSON text of one line. Invalid UTF-8 is replaced.
std::string JsonLine(const nlohmann::ordered_json& json);

}  // namespace meshwright::library
