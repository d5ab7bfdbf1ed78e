// The engine on recorded results: one agent that has each result at once, and no store. What it
// runs and when it stops is what a server would.
#pragma once

#include <cstdint>

#include "absl/types/span.h"
#include "planner/replay/replay.h"

namespace meshwright::server {

// Runs a sweep of these candidates, numbered in their order, to its end.
planner::ChosenTrials RunByEngine(absl::Span<const planner::ReplayCandidate> candidates,
                                  const planner::RunRecorded& run, int32_t max_trials,
                                  double min_gain, const planner::RelatedSweeps& relatives = {});

}  // namespace meshwright::server
