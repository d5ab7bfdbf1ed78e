// Sweeps that were run again on recorded results, in the form that scripts read.
#pragma once

#include "absl/types/span.h"
#include "nlohmann/json.hpp"
#include "planner/replay/replay.h"

namespace meshwright::planner {

// {"sweeps": [...], "total": {...}}; the keys are the fields of SweepReplay and ReplayTotal.
// Figures that do not exist are null; `stop` is "gain", "trials",
// "nothing_fits" or "all_ran".
// `relatives`, `related_sweeps` and `related_results` are there where sweeps were replayed with
// relatives.
nlohmann::ordered_json ReplayToJson(absl::Span<const SweepReplay> sweeps,
                                    bool with_relatives = false);

}  // namespace meshwright::planner
