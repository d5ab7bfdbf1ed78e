// RunByEngine() replays recorded results through the engine, without a store and with one agent,
// which has each result immediately. The engine chooses the same trials as on a server, in the same
// order, and stops after the same trial.
#pragma once

#include <cstdint>

#include "absl/types/span.h"
#include "planner/replay/replay.h"

namespace meshwright::server {

// Runs a sweep of these candidates, numbered in their order, to its end.
planner::ChosenTrials RunByEngine(absl::Span<const planner::ReplayCandidate> candidates,
                                  const planner::RunRecorded& run, int32_t max_trials,
                                  double min_gain,
                                  const planner::RelatedSweeps& related_sweeps = {});

}  // namespace meshwright::server
