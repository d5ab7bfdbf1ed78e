// Between which places of an order the rows stand that meet a query's condition.
//
// `mfu > 0.4 and tp = 8` is met by no row behind an MFU of 0.4 and by none without an MFU: a search
// in the order of the MFU ends there.
#pragma once

#include <limits>

#include "db/measurement.h"

namespace meshwright::db {

// What a figure may be in rows that meet a condition, both ends included.
struct FigureRange {
  double least = -std::numeric_limits<double>::infinity();
  double most = std::numeric_limits<double>::infinity();
  bool may_lack = true;  // rows without the figure may meet it, too

  friend bool operator==(const FigureRange&, const FigureRange&) = default;
};

// Of the figure that rows are ordered by.
FigureRange RangeOf(MeasurementOrder order, const planner::Condition& condition);

// The same query, `after` and `until` of which leave out what is not in the range of its condition.
MeasurementQuery WithinRange(MeasurementQuery query);

}  // namespace meshwright::db
