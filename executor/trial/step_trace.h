// StepTrace() writes one step of all ranks as a trace for Perfetto.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "executor/trial/step_record.h"
#include "planner/layout/layout.h"

namespace meshwright::trial {

struct RankTrace {
  int32_t rank = 0;
  int32_t pipeline_rank = 0;
  std::string name;  // "rank 3 (tp0 pp1 dp0)"
  StepRecord record;
};

// Returns the trace as JSON. Each rank is a process of the trace. Its threads are computation,
// received pipeline messages, sent pipeline messages, and one thread per other group. Time 0 is
// when the first rank began the step. Events of a thread don't overlap, since a group's
// operations queue behind each other. A send lasts until the message is received, not until the
// sending rank checks for its completion.
std::string StepTrace(const planner::Layout& layout, std::vector<RankTrace> ranks);

}  // namespace meshwright::trial
