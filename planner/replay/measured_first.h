// MeasuredFirst corrects the predictions of a sweep's rows by the measured times of a few of these
// rows: the rows that the planner would run first.
//
// A sweep is the rows of one `sweep`, model, global batch and number of devices. Its other rows are
// corrected in the way in which the user's own runs correct an estimate
// (planner/correction/correction.h). The priors are the largest step and peak errors in the
// predictions of the sweep's rows.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "planner/measurement/measurement.h"
#include "planner/measurement/row_prediction.h"

namespace meshwright::planner {

// Marks the first `count` rows of each sweep as RowPrediction::given, and corrects the predictions
// of its other rows. Rows that are likelier to fit than not come before the others; in both groups,
// rows with shorter predicted steps come first. `measured` and `rows` have the same order.
// REQUIRES: count >= 1.
void GiveFirstRows(int64_t count, absl::Span<const Measurement> measured,
                   std::vector<RowPrediction>& rows);

}  // namespace meshwright::planner
