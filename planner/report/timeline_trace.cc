#include "planner/report/timeline.h"
#include "planner/report/trace_writer.h"
#include "planner/schedule/placement.h"

namespace meshwright::planner {
namespace {

constexpr int32_t kProcess = 0;

int32_t ThreadOf(int32_t rank) { return 2 * rank; }
int32_t ReductionThreadOf(int32_t rank) { return 2 * rank + 1; }

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

}  // namespace meshwright::planner
