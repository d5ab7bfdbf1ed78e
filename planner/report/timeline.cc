#include "planner/report/timeline.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "absl/strings/ascii.h"
#include "planner/report/trace_writer.h"
#include "planner/schedule/placement.h"

namespace meshwright::planner {
namespace {

constexpr int32_t kProcess = 0;

int32_t ThreadOf(int32_t rank) { return 2 * rank; }
int32_t ReductionThreadOf(int32_t rank) { return 2 * rank + 1; }

char Mark(const Action& action) {
  const char letter = kActionLetters[static_cast<size_t>(action.kind)];
  return action.chunk % 2 == 0 ? letter : absl::ascii_tolower(letter);
}

}  // namespace

std::string TimelineTrace(const TimelineSubject& subject, const Timeline& timeline) {
  TraceWriter writer;
  writer.NameProcess(kProcess, FormatLayout(subject.layout));
  for (int32_t rank = 0; rank < subject.layout.pp; ++rank) {
    writer.NameThread({kProcess, ThreadOf(rank)}, "pipeline rank " + std::to_string(rank));
    if (timeline.reductions.empty()) continue;
    writer.NameThread({kProcess, ReductionThreadOf(rank)},
                      "pipeline rank " + std::to_string(rank) + " reductions");
  }
  for (const TimedAction& timed : timeline.actions) {
    writer.Complete(
        {kProcess, ThreadOf(timed.rank)},
        {.name = FormatAction(timed.action),
         .category = TraceCategory(timed.action.kind),
         .begin_s = timed.start_s,
         .end_s = timed.end_s,
         .arguments = {{"micro_batch", timed.action.micro_batch},
                       {"chunk", timed.action.chunk},
                       {"stage", StageOfChunk(subject.layout, timed.rank, timed.action.chunk)}}});
  }
  for (const TimedReduction& timed : timeline.reductions) {
    writer.Complete({kProcess, ReductionThreadOf(timed.rank)},
                    {.name = "reduce.c" + std::to_string(timed.chunk),
                     .category = "gradient reduction",
                     .begin_s = timed.start_s,
                     .end_s = timed.end_s,
                     .arguments = {{"chunk", timed.chunk}}});
  }
  return writer.Finish();
}

std::string TimelineText(const Timeline& timeline, int32_t columns) {
  if (!(timeline.makespan_s > 0.0)) return "";
  // The fewest marks that show the shortest action.
  double shortest_s = timeline.makespan_s;
  for (const TimedAction& timed : timeline.actions) {
    const double duration_s = timed.end_s - timed.start_s;
    if (duration_s > 0.0) shortest_s = std::min(shortest_s, duration_s);
  }
  const double wanted = std::ceil(timeline.makespan_s / shortest_s - 1e-9);
  if (wanted > columns) return "";
  const auto width = static_cast<size_t>(wanted);
  const double mark_s = timeline.makespan_s / static_cast<double>(width);

  std::vector<std::string> lines(timeline.ranks.size(), std::string(width, '.'));
  for (const TimedAction& timed : timeline.actions) {
    // A mark shows the action that runs at the middle of its interval.
    const double first = std::ceil(timed.start_s / mark_s - 0.5 - 1e-9);
    for (auto i = static_cast<size_t>(std::max(first, 0.0));
         i < width && (static_cast<double>(i) + 0.5) * mark_s < timed.end_s - 1e-9 * mark_s; ++i) {
      lines[timed.rank][i] = Mark(timed.action);
    }
  }
  std::string text;
  for (const std::string& line : lines) text += line + '\n';
  return text;
}

}  // namespace meshwright::planner
