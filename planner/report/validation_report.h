// A comparison of predictions with measurements, row by row, as scripts read it; its figures are
// printed by their fields (planner/report/validation_fields.h).
#pragma once

#include <string>

#include "absl/types/span.h"
#include "planner/measurement/validation.h"

namespace meshwright::planner {

// Returns "row,sweep,peak_bytes,fraction_of_device,oom_probability,step_s,mfu,reason" and one line
// per row. The figures are empty where the row could not be modelled, and `reason` says why. No
// value holds a comma or a quote: commas of a reason become semicolons.
std::string RowsToCsv(absl::Span<const RowPrediction> rows);

}  // namespace meshwright::planner
