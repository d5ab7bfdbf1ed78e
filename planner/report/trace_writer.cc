#include "planner/report/trace_writer.h"

#include <utility>

namespace meshwright::planner {
namespace {

using nlohmann::ordered_json;

constexpr double kMicro = 1e6;

}  // namespace

void TraceWriter::NameProcess(int32_t process, const std::string& name) {
  Describe("process_name", {process, 0}, {{"name", name}});
  Describe("process_sort_index", {process, 0}, {{"sort_index", process}});
}

void TraceWriter::NameThread(TraceThread thread, const std::string& name) {
  Describe("thread_name", thread, {{"name", name}});
  Describe("thread_sort_index", thread, {{"sort_index", thread.thread}});
}

void TraceWriter::Complete(TraceThread thread, TraceEvent event) {
  Add({{"ph", "X"},
       {"pid", thread.process},
       {"tid", thread.thread},
       {"name", std::move(event.name)},
       {"cat", event.category},
       {"ts", event.begin_s * kMicro},
       {"dur", (event.end_s - event.begin_s) * kMicro},
       {"args", std::move(event.arguments)}});
}

std::string TraceWriter::Finish() { return std::move(text_) + "\n]}\n"; }

// Some readers require a time on every event, so this has one although it holds for the whole
// trace.
void TraceWriter::Describe(const char* what, TraceThread thread, ordered_json arguments) {
  Add({{"ph", "M"},
       {"pid", thread.process},
       {"tid", thread.thread},
       {"ts", 0},
       {"dur", 0},
       {"name", what},
       {"args", std::move(arguments)}});
}

void TraceWriter::Add(const ordered_json& event) {
  text_ += first_ ? "\n" : ",\n";
  text_ += event.dump();
  first_ = false;
}

const char* TraceCategory(ActionKind kind) {
  switch (kind) {
    case ActionKind::kForward:
      return "forward";
    case ActionKind::kBackward:
      return "backward";
    case ActionKind::kBackwardInput:
      return "input gradient";
    case ActionKind::kBackwardWeight:
      return "weight gradient";
    case ActionKind::kVocabularyForward:
      return "head forward";
    case ActionKind::kVocabularyBackward:
      return "head backward";
  }
  return "";
}

}  // namespace meshwright::planner
