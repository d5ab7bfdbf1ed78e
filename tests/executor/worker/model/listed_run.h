// ListedRuns() returns the operators that planner/block/block.h lists for a rank, in the form of
// RunRecorder's records.
#pragma once

#include <cstdint>

#include "planner/block/operator.h"
#include "planner/layout/layout.h"
#include "tests/executor/worker/model/run_recorder.h"

namespace meshwright::worker {

// The passes of one micro-batch, and the bytes that the forward saves for the backward.
struct PassRuns {
  RankRun forward;
  RankRun
      input_gradient;  // with computed operators sorted: branches of the backward may change places
  RankRun weight_gradient;
  int64_t kept_bytes = 0;

  friend bool operator==(const PassRuns&, const PassRuns&) = default;
};

void Sort(RankRun& run);

// `whole` is the list of operators without recomputation, and `kept` is the list with the changes
// that the layout's recomputation makes.
PassRuns ListedRuns(const planner::OperatorList& kept, const planner::OperatorList& whole,
                    const planner::Layout& layout);

}  // namespace meshwright::worker
