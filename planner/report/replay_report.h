// The JSON form of replayed sweeps, for scripts.
#pragma once

#include "absl/types/span.h"
#include "nlohmann/json.hpp"
#include "planner/replay/replay.h"

namespace meshwright::planner {

// Returns {"sweeps": [...], "total": {...}}; the keys are the fields of SweepReplay and
// ReplayTotal. Figures that do not exist are null; `stop` is "gain", "trials", "nothing_fits" or
// "all_ran". `relatives`, `related_sweeps` and `related_results` are present where sweeps were
// replayed with related sweeps.
nlohmann::ordered_json ReplayToJson(absl::Span<const SweepReplay> sweeps,
                                    bool with_relatives = false);

}  // namespace meshwright::planner
