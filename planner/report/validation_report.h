// Forms of a comparison of predictions with measurements, for scripts.
#pragma once

#include <string>

#include "absl/types/span.h"
#include "nlohmann/json.hpp"
#include "planner/measurement/refusals.h"
#include "planner/measurement/validation.h"

namespace meshwright::planner {

// Returns {"sweeps": [...], "total": {...}}. The keys of an entry are the fields of SweepReport;
// the total also has spearman_pooled, regret_safe_points_max and regret_likely_points_max. Figures
// that do not exist are null.
nlohmann::ordered_json ValidationToJson(const ValidationReport& report);

// Returns {"unreadable_rows", "unreadable": [{"file", "line", "reason"}], "not_modelled":
// [{"cause", "rows", "values": [{"value", "rows"}]}]}.
nlohmann::ordered_json RefusalsToJson(const Refusals& refusals);

// Returns "row,sweep,peak_bytes,fraction_of_device,oom_probability,step_s,mfu,reason" and one line
// per row. The figures are empty where the row could not be modelled, and `reason` says why. No
// value holds a comma or a quote: commas of a reason become semicolons.
std::string RowsToCsv(absl::Span<const RowPrediction> rows);

}  // namespace meshwright::planner
