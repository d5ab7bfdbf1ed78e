// EventWriter writes one worker's events as lines of JSON to a dedicated descriptor.
//
// Every event has the fields `event` and `rank`. executor/trial/rank_events.h has the events of a
// trial, and executor/trial/benchmark_events.h has the events of a device benchmark.
#pragma once

#include <cstdint>

#include "nlohmann/json.hpp"

namespace meshwright::worker {

class EventWriter {
 public:
  // A negative descriptor drops all events.
  EventWriter(int descriptor, int32_t rank) : descriptor_(descriptor), rank_(rank) {}

  // Writes `event` with the rank added. Ignores errors if the reader is gone, since the worker is
  // then about to be killed.
  void Write(nlohmann::json event) const;

 private:
  const int descriptor_;
  const int32_t rank_;
};

}  // namespace meshwright::worker
