// Events of one worker: one JSON object per line, on a descriptor of its own.
//
// Every event has `event` and `rank`. Those of a trial are in executor/trial/rank_events.h.
// In a device benchmark also, the first two of rank 0 alone:
//   device          name, memory_bytes, compute_units, physical_cores
//   measured        done, cases, and one of matmul, copy, collective unless it was passed over
//   alive           done, cases
//   benchmark_done
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
