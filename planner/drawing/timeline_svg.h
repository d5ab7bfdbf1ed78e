// Draws a simulated pipeline step as an SVG file.
#pragma once

#include <string>

#include "planner/report/timeline.h"

namespace meshwright::planner {

// Draws one row for each rank, a legend and a time scale. Each bar is an action: its colour is the
// kind of action, its shade the chunk, and its label the micro-batch if the bar is wide enough.
// REQUIRES: the timeline holds its events (Record::kEvents).
std::string TimelineSvg(const TimelineSubject& subject, const Timeline& timeline);

}  // namespace meshwright::planner
