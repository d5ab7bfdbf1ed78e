// One step of all ranks as a trace that Perfetto opens.
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

// One process per rank, its threads: what it computes, pipeline messages that it receives and that
// it sends, and one for each other group. Time 0 is the first rank's begin of the step. Events of a
// thread don't overlap: what a group has to do waits for what it does.
// A send lasts until it is received, not until its rank gets to look after it.
std::string StepTrace(const planner::Layout& layout, std::vector<RankTrace> ranks);

}  // namespace meshwright::trial
