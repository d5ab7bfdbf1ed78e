// TraceWriter writes Chrome's trace format, which Perfetto opens: processes with threads, and
// complete events on them.
#pragma once

#include <cstdint>
#include <string>

#include "nlohmann/json.hpp"
#include "planner/schedule/schedule.h"

namespace meshwright::planner {

// The number of a process, and of a thread in it. Threads are shown in the order of their numbers.
struct TraceThread {
  int32_t process = 0;
  int32_t thread = 0;
};

struct TraceEvent {
  std::string name;
  const char* category = "";
  double begin_s = 0.0;
  double end_s = 0.0;
  nlohmann::ordered_json arguments;  // a JSON object
};

// Appends events to a text one by one, so that a long trace is never held twice.
class TraceWriter {
 public:
  void NameProcess(int32_t process, const std::string& name);
  void NameThread(TraceThread thread, const std::string& name);
  void Complete(TraceThread thread, TraceEvent event);

  // Returns the whole trace. Nothing may be added afterwards.
  std::string Finish();

 private:
  void Add(const nlohmann::ordered_json& event);
  void Describe(const char* what, TraceThread thread, nlohmann::ordered_json arguments);

  std::string text_ = R"({"displayTimeUnit": "ms", "traceEvents": [)";
  bool first_ = true;
};

// Returns "forward", "backward", "input gradient" or "weight gradient".
const char* TraceCategory(ActionKind kind);

}  // namespace meshwright::planner
