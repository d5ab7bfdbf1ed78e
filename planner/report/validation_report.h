// Writes a comparison of predictions with measurements as CSV for scripts, row by row. The figures
// over many rows are the fields of planner/report/validation_fields.h.
#pragma once

#include <string>

#include "absl/types/span.h"
#include "planner/measurement/validation.h"

namespace meshwright::planner {

// Returns "row,sweep,peak_bytes,fraction_of_device,oom_probability,step_s,mfu,reason" and one line
// per row. If a row could not be modelled, its figures are empty and `reason` says why. No value
// needs quoting: a comma in a name or a reason becomes a semicolon, and a double quote becomes a
// single quote.
std::string RowsToCsv(absl::Span<const RowPrediction> rows);

}  // namespace meshwright::planner
