// Asks a filter (planner/layout/filter.h) of a layout.
#pragma once

#include "planner/layout/filter.h"
#include "planner/layout/layout.h"

namespace meshwright::planner {

// Returns the layout's value of a field: a number, or a Recompute or a ScheduleKind.
int64_t FilterValueOf(FilterField field, const Layout& layout);

// Returns whether the filter takes the layout. Allocates nothing: a search asks it of every layout
// that can run.
bool Matches(const Filter& filter, const Layout& layout);

}  // namespace meshwright::planner
