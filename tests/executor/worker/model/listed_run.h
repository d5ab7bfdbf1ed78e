// What the operators of planner/block/block.h say that a rank runs, in the words of RunRecorder.
#pragma once

#include <cstdint>

#include "planner/block/operator_list.h"
#include "planner/layout/layout.h"
#include "tests/executor/worker/model/run_recorder.h"

namespace meshwright::worker {

// The passes of one micro-batch, and bytes that it keeps between the first two.
struct PassRuns {
  RankRun forward;
  RankRun
      input_gradient;  // its computed operators sorted: branches of the backward may change places
  RankRun weight_gradient;
  int64_t kept_bytes = 0;

  friend bool operator==(const PassRuns&, const PassRuns&) = default;
};

void Sort(RankRun& run);

// `kept` are the operators as recompute left them, `whole` the same before it.
PassRuns ListedRuns(const planner::OperatorList& kept, const planner::OperatorList& whole,
                    const planner::Layout& layout);

}  // namespace meshwright::worker
