// Draws a simulated pipeline step as an SVG file.
#pragma once

#include <string>

#include "planner/drawing/picture_origin.h"
#include "planner/report/timeline.h"

namespace meshwright::planner {

// Draws one row for each rank, a legend and a time scale. Each bar is an action: its colour is the
// kind of action, its shade the chunk, and its label the micro-batch if the bar is wide enough. Of
// a step whose bars would be too narrow to tell apart, the picture has the beginning and the end.
// REQUIRES: the timeline holds its events (Record::kEvents).
std::string TimelineSvg(const TimelineSubject& subject, const Timeline& timeline,
                        const PictureOrigin& origin);

}  // namespace meshwright::planner
