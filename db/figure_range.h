// Derives from a query's condition the part of the order in which matching rows can be.
//
// No row with an MFU of 0.4 or less, and none without an MFU, matches `mfu > 0.4 and tp = 8`: a
// search in the order of the MFU ends there.
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

// Returns the range of the figure that rows are ordered by.
FigureRange RangeOf(MeasurementOrder order, const planner::Condition& condition);

// Returns the query with `after` and `until` narrowed to the range of its condition.
MeasurementQuery WithinRange(MeasurementQuery query);

}  // namespace meshwright::db
