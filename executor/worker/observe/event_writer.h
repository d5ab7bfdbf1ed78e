// EventWriter writes one worker's events as lines of JSON to a dedicated descriptor.
//
// Every event has `event` and `rank`. A trial's events are in executor/trial/rank_events.h, a
// device benchmark's in executor/trial/benchmark_events.h.
#pragma once

#include <cstdint>

#include "nlohmann/json.hpp"

namespace meshwright::worker {

class EventWriter {
 public:
  // A negative descriptor drops all events.
  EventWriter(int descriptor, int32_t rank) : descriptor_(descriptor), rank_(rank) {}

  // Adds the rank. Ignores a reader that is gone: the worker is about to be killed.
  void Write(nlohmann::json event) const;

 private:
  const int descriptor_;
  const int32_t rank_;
};

}  // namespace meshwright::worker
