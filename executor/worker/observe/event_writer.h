// Events of one worker: one JSON object per line, on a descriptor of its own.
//
// Every event has `event` and `rank`:
//   hello  pid, host, version
//   step   begin, before it: step
//   step   finished: step, step_s, profile (executor/trial/step_profile.h), and loss on the rank
//   that
//          knows it
//   done   stop_reason, peak_bytes, peak_in_flight, measured_peak_flops, on a device also
//          peak_reserved_bytes, allocator_retries, communicator_bytes, and trace with name and
//          record (executor/trial/step_record.h) of the last step where the plan wants it
//   oom    pipeline_rank, requested_bytes, held_bytes, limit_bytes
//   error  kind (communication, internal, plan), message; after done it is about the rank's end
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
