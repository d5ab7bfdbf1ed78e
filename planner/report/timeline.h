// Renders a simulated pipeline step as a trace or as lines of text.
//
// Both functions are pure functions of the timeline, which must hold its events (Record::kEvents).
#pragma once

#include <string>

#include "planner/layout/layout.h"
#include "planner/schedule/simulator.h"

namespace meshwright::planner {

// The layout and the batch that were simulated. Readers need both in addition to the timeline.
struct TimelineSubject {
  const Layout& layout;
  int32_t micro_batches = 0;
};

// Returns a trace in Chrome's format, which Perfetto opens. The trace has one process with a thread
// for each pipeline rank, and a complete event for each action, with FormatAction() as its name and
// times in microseconds. A rank's reductions are on a separate thread next to its own.
std::string TimelineTrace(const TimelineSubject& subject, const Timeline& timeline);

// Returns one line per rank. Each mark stands for as much time as the shortest action takes. A mark
// is the letter of FormatAction() (F, B, I or W), in lower case for odd chunks, or a dot for idle
// time. Returns "" if a line would have more than `columns` marks, or if the step takes no time.
std::string TimelineText(const Timeline& timeline, int32_t columns);

}  // namespace meshwright::planner
