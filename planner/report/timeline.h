// A simulated pipeline step for people: as a trace, as a picture, as lines of text.
//
// Pure functions of the timeline, which must hold its events (Record::kEvents).
#pragma once

#include <string>

#include "planner/layout/layout.h"
#include "planner/schedule/simulator.h"

namespace meshwright::planner {

// What was simulated; the reader of a file needs it beside the timeline.
struct TimelineSubject {
  const Layout& layout;
  int32_t micro_batches = 0;
};

// Chrome's trace format, which Perfetto opens: one process, one thread per pipeline rank, a
// complete event per action in microseconds, named as FormatAction does. Reductions stand on
// threads of their own beside their rank.
std::string TimelineTrace(const TimelineSubject& subject, const Timeline& timeline);

// One line per rank with a mark for each time of the shortest action: F B I W as FormatAction has
// them, small for odd chunks, and a dot for idle time. Empty where that takes more than `columns`
// marks, and for a step without duration.
std::string TimelineText(const Timeline& timeline, int32_t columns);

}  // namespace meshwright::planner
