// Events of one worker: one JSON object per line, on a descriptor of its own.
//
// Every event has `event` and `rank`. Those of a trial are in executor/trial/rank_events.h, those
// of a device benchmark in executor/trial/benchmark_events.h.
#pragma once

#include <cstdint>

#include "nlohmann/json.hpp"

namespace meshwright::worker {

class EventWriter {
 public:
  // A negative descriptor drops all events.
  EventWriter(int descriptor, int32_t rank) : descriptor_(descriptor), rank_(rank) {}

  // Adds the rank. A reader that went away is ignored: the worker is about to be killed.
  void Write(nlohmann::json event) const;

 private:
  const int descriptor_;
  const int32_t rank_;
};

}  // namespace meshwright::worker
