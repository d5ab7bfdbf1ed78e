// The operators that planner/block/block.h lists for a rank, in the form of RunRecorder.
#pragma once

#include <cstdint>

#include "planner/block/operator.h"
#include "planner/layout/layout.h"
#include "tests/executor/worker/model/run_recorder.h"

namespace meshwright::worker {

// The passes of one micro-batch, and the bytes saved between the first two.
struct PassRuns {
  RankRun forward;
  RankRun
      input_gradient;  // with computed operators sorted: branches of the backward may change places
  RankRun weight_gradient;
  int64_t kept_bytes = 0;

  friend bool operator==(const PassRuns&, const PassRuns&) = default;
};

void Sort(RankRun& run);

// `kept` are the operators after recompute's edits, `whole` before them.
PassRuns ListedRuns(const planner::OperatorList& kept, const planner::OperatorList& whole,
                    const planner::Layout& layout);

}  // namespace meshwright::worker
