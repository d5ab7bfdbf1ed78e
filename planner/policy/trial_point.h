// TrialPoint is a layout as a point: the distance of two points says how different their layouts
// are. The distance is 1 for a factor of two on an axis. For another word, another setting of a
// switch or the next stage of ZeRO it is half of that, as these change less.
#pragma once

#include <vector>

#include "planner/layout/layout.h"

namespace meshwright::planner {

using TrialPoint = std::vector<double>;

// Returns the point of a layout. All points have the same number of coordinates. They tell whether
// a layout chooses the layers of its stages and the modules to recompute, but not which ones.
TrialPoint PointOf(const Layout& layout);

// REQUIRES, for both: points of the same length.
double SquaredDistance(const TrialPoint& a, const TrialPoint& b);
double DotProduct(const TrialPoint& a, const TrialPoint& b);

}  // namespace meshwright::planner
