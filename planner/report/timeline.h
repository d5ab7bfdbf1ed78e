// Renders a simulated pipeline step as a trace, as a picture or as lines of text.
//
// All are pure functions of the timeline, which must hold its events (Record::kEvents).
#pragma once

#include <string>

#include "planner/layout/layout.h"
#include "planner/schedule/simulator.h"

namespace meshwright::planner {

// What was simulated, which a reader needs in addition to the timeline.
struct TimelineSubject {
  const Layout& layout;
  int32_t micro_batches = 0;
};

// Returns Chrome's trace format, which Perfetto opens: one process, one thread per pipeline rank, a
// complete event per action in microseconds, named as by FormatAction. Reductions are on separate
// threads next to their rank's.
std::string TimelineTrace(const TimelineSubject& subject, const Timeline& timeline);

// Returns one line per rank with a mark for each duration of the shortest action: F B I W as in
// FormatAction, lower case for odd chunks, and a dot for idle time. Empty where that takes more
// than `columns` marks, and for a step without duration.
std::string TimelineText(const Timeline& timeline, int32_t columns);

}  // namespace meshwright::planner
