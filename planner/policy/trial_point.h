// TrialPoint is a layout as a point in space. The distance of two points says how different their
// layouts are: 1 for a factor of two on one axis; 0.5 for another word, another setting of a
// switch, or the next ZeRO stage, because these change less.
#pragma once

#include <vector>

#include "planner/layout/layout.h"

namespace meshwright::planner {

using TrialPoint = std::vector<double>;

// Returns the point of a layout. All points have the same number of coordinates. Two coordinates
// tell whether the layout lists the layers of its stages and the modules to recompute; the lists'
// contents do not count.
TrialPoint PointOf(const Layout& layout);

// Returns the mean of the points; empty if there is none. REQUIRES: points of the same length.
TrialPoint MeanOf(const std::vector<TrialPoint>& points);
// Subtracts `middle` from the point. REQUIRES: points of the same length, or an empty `middle`.
void Subtract(const TrialPoint& middle, TrialPoint& point);

// REQUIRES, for both: points of the same length.
double SquaredDistance(const TrialPoint& a, const TrialPoint& b);
double DotProduct(const TrialPoint& a, const TrialPoint& b);

}  // namespace meshwright::planner
