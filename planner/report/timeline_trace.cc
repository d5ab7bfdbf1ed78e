#include "nlohmann/json.hpp"
#include "planner/report/timeline.h"
#include "planner/schedule/placement.h"

namespace meshwright {
namespace {

using nlohmann::ordered_json;

constexpr double kMicro = 1e6;

const char* Category(ActionKind kind) {
  switch (kind) {
    case ActionKind::kForward:
      return "forward";
    case ActionKind::kBackward:
      return "backward";
    case ActionKind::kBackwardInput:
      return "input gradient";
    case ActionKind::kBackwardWeight:
      return "weight gradient";
  }
  return "";
}

// Appends events to a trace one by one, so that a long trace is never held twice.
class TraceWriter {
 public:
  void Name(const char* what, int32_t thread, const std::string& name) {
    Add({{"ph", "M"}, {"pid", 0}, {"tid", thread}, {"name", what}, {"args", {{"name", name}}}});
  }
  // Threads are shown in the order of their numbers.
  void Order(int32_t thread) {
    Add({{"ph", "M"},
         {"pid", 0},
         {"tid", thread},
         {"name", "thread_sort_index"},
         {"args", {{"sort_index", thread}}}});
  }
  void Complete(int32_t thread, const std::string& name, const char* category, double start_s,
                double end_s, ordered_json arguments) {
    Add({{"ph", "X"},
         {"pid", 0},
         {"tid", thread},
         {"name", name},
         {"cat", category},
         {"ts", start_s * kMicro},
         {"dur", (end_s - start_s) * kMicro},
         {"args", std::move(arguments)}});
  }
  std::string Finish() { return std::move(text_) + "\n]}\n"; }

 private:
  void Add(const ordered_json& event) {
    text_ += first_ ? "\n" : ",\n";
    text_ += event.dump();
    first_ = false;
  }

  std::string text_ = R"({"displayTimeUnit": "ms", "traceEvents": [)";
  bool first_ = true;
};

int32_t ThreadOf(int32_t rank) { return 2 * rank; }
int32_t ReductionThreadOf(int32_t rank) { return 2 * rank + 1; }

}  // namespace

std::string TimelineTrace(const TimelineSubject& subject, const Timeline& timeline) {
  TraceWriter writer;
  writer.Name("process_name", 0, FormatLayout(subject.layout));
  for (int32_t rank = 0; rank < subject.layout.pp; ++rank) {
    writer.Name("thread_name", ThreadOf(rank), "pipeline rank " + std::to_string(rank));
    writer.Order(ThreadOf(rank));
    if (timeline.reductions.empty()) continue;
    writer.Name("thread_name", ReductionThreadOf(rank),
                "pipeline rank " + std::to_string(rank) + " reductions");
    writer.Order(ReductionThreadOf(rank));
  }
  for (const TimedAction& timed : timeline.actions) {
    writer.Complete(ThreadOf(timed.rank), FormatAction(timed.action), Category(timed.action.kind),
                    timed.start_s, timed.end_s,
                    {{"micro_batch", timed.action.micro_batch},
                     {"chunk", timed.action.chunk},
                     {"stage", StageOfChunk(subject.layout, timed.rank, timed.action.chunk)}});
  }
  for (const TimedReduction& timed : timeline.reductions) {
    writer.Complete(ReductionThreadOf(timed.rank), "reduce.c" + std::to_string(timed.chunk),
                    "gradient reduction", timed.start_s, timed.end_s, {{"chunk", timed.chunk}});
  }
  return writer.Finish();
}

}  // namespace meshwright
