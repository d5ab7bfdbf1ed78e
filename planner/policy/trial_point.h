// Layouts as points, so that how alike two of them are is a distance: 1 for a factor of two on an
// axis, half of that for another word, for a switch and for a stage of ZeRO, which change less.
#pragma once

#include <vector>

#include "planner/layout/layout.h"

namespace meshwright::planner {

using TrialPoint = std::vector<double>;

// All layouts' points have as many numbers. Which layers a stage has and which modules are run
// again are not in them, but that somebody chose them is.
TrialPoint PointOf(const Layout& layout);

// Require points of one length.
double SquaredDistance(const TrialPoint& a, const TrialPoint& b);
double DotProduct(const TrialPoint& a, const TrialPoint& b);

}  // namespace meshwright::planner
