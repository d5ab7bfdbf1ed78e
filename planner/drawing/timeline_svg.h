// Draws a simulated pipeline step as an SVG file.
#pragma once

#include <string>

#include "planner/report/timeline.h"

namespace meshwright::planner {

// Draws one row per rank and one colour per kind of action, chunks in shades, the micro-batch where
// there is room for it, a legend and a scale. REQUIRES: the timeline holds its events.
std::string TimelineSvg(const TimelineSubject& subject, const Timeline& timeline);

}  // namespace meshwright::planner
