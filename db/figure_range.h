// FigureRange bounds the figure by which a query orders its rows: the MFU or the step time. The
// bounds hold for all rows that can match the query's condition.
//
// For example, a row that matches `mfu > 0.4 and tp = 8` has an MFU above 0.4. A search in the
// order of the MFU can therefore stop at 0.4.
#pragma once

#include <limits>

#include "db/measurement.h"

namespace meshwright::db {

// Bounds of a figure in rows that match a condition, both inclusive.
struct FigureRange {
  double least = -std::numeric_limits<double>::infinity();
  double most = std::numeric_limits<double>::infinity();
  bool may_lack = true;  // rows without the figure may match too

  friend bool operator==(const FigureRange&, const FigureRange&) = default;
};

// Returns the range that the figure of `order` can have in matching rows.
FigureRange RangeOf(MeasurementOrder order, const planner::Condition& condition);

// Returns the query with `after` and `until` narrowed to the range of its condition.
MeasurementQuery WithinRange(MeasurementQuery query);

}  // namespace meshwright::db
