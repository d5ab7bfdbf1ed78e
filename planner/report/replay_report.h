// Writes the JSON form of replayed sweeps, for scripts.
#pragma once

#include "absl/types/span.h"
#include "nlohmann/json.hpp"
#include "planner/replay/replay.h"

namespace meshwright::planner {

// Returns {"sweeps": [...], "total": {...}}. The keys inside are the fields of SweepReplay and
// ReplayTotal (planner/report/replay_fields.h). Figures that do not exist are null. `stop` is
// "gain", "trials", "nothing_fits" or "all_ran". If `with_relatives` is set, `relatives`,
// `related_sweeps` and `related_results` are present as well.
nlohmann::ordered_json ReplayToJson(absl::Span<const SweepReplay> sweeps,
                                    bool with_relatives = false);

}  // namespace meshwright::planner
