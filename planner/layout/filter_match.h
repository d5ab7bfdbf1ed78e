// Asks a filter (planner/layout/filter.h) of a layout.
#pragma once

#include "planner/layout/filter.h"
#include "planner/layout/layout.h"

namespace meshwright::planner {

// Returns whether the filter takes the layout. Allocates nothing: a search asks it of every layout
// that can run.
bool Matches(const Filter& filter, const Layout& layout);

}  // namespace meshwright::planner
