#include "executor/trial/step_trace.h"

#include <algorithm>
#include <array>
#include <deque>
#include <limits>
#include <map>
#include <string_view>
#include <tuple>
#include <utility>

#include "absl/strings/str_cat.h"
#include "planner/layout/mesh.h"
#include "planner/report/trace_writer.h"
#include "planner/schedule/open_groups.h"
#include "planner/schedule/placement.h"

namespace meshwright::trial {
namespace {

using nlohmann::ordered_json;

constexpr int32_t kComputeThread = 0;
constexpr double kMicro = 1e6;
// Threads of other groups are numbered after these.
constexpr std::array<std::string_view, 6> kThreads = {
    "compute",
    "pipeline receives",
    "pipeline sends",
    planner::GroupRoleName(planner::GroupRole::kTensor),
    planner::GroupRoleName(planner::GroupRole::kContext),
    planner::GroupRoleName(planner::GroupRole::kReplicas)};

// Returns the name of the thread that shows the operation.
std::string ThreadName(const CommunicationSpan& span) {
  if (!planner::IsLaneName(span.group)) return span.group;
  return span.operation == planner::CollectiveKind::kSend ? "pipeline sends" : "pipeline receives";
}

class RankWriter {
 public:
  RankWriter(const planner::Layout& layout, const RankTrace& rank, double zero_s,
             planner::TraceWriter& writer)
      : layout_(layout), rank_(rank), zero_s_(zero_s), writer_(writer) {}

  void Write() {
    writer_.NameProcess(rank_.rank, rank_.name);
    writer_.NameThread({rank_.rank, kComputeThread}, std::string(kThreads[kComputeThread]));
    for (const ActionSpan& span : rank_.record.actions) Write(span);
    const TimeSpan& optimizer = rank_.record.optimizer;
    if (optimizer.duration_s() > 0.0) {
      Write(kComputeThread, "optimizer", "optimizer", optimizer, ordered_json::object());
    }
    for (const CommunicationSpan& span : rank_.record.communication) Write(span);
  }

 private:
  struct GroupThread {
    int32_t number = 0;
    double done_s = 0.0;  // end of the last event shown
  };

  void Write(int32_t thread, std::string name, const char* category, const TimeSpan& time,
             ordered_json arguments) {
    writer_.Complete({rank_.rank, thread}, {.name = std::move(name),
                                            .category = category,
                                            .begin_s = time.begin_s - zero_s_,
                                            .end_s = time.end_s - zero_s_,
                                            .arguments = std::move(arguments)});
  }

  void Write(const ActionSpan& span) {
    const planner::Action& action = span.action;
    Write(kComputeThread, planner::FormatAction(action), planner::TraceCategory(action.kind),
          span.time,
          {{"micro_batch", action.micro_batch},
           {"chunk", action.chunk},
           {"stage", planner::StageOfChunk(layout_, rank_.pipeline_rank, action.chunk)},
           {"communication_us", span.communication_s * kMicro}});
  }

  void Write(const CommunicationSpan& span) {
    GroupThread& thread = ThreadOf(ThreadName(span));
    const double begin_s = BeganAt(span, thread.done_s);
    thread.done_s = std::max(thread.done_s, span.done_s);
    ordered_json arguments = {{"group", span.group},
                              {"bytes", span.bytes},
                              {"issued_us", (span.issued_s - zero_s_) * kMicro},
                              {"waited_us", span.wait.duration_s() * kMicro}};
    if (span.peer >= 0) arguments["peer"] = span.peer;
    Write(thread.number, std::string(planner::CollectiveKindName(span.operation)), "communication",
          {.begin_s = begin_s, .end_s = std::max(begin_s, span.done_s)}, std::move(arguments));
  }

  GroupThread& ThreadOf(const std::string& name) {
    const auto [entry, is_new] = threads_.try_emplace(name);
    if (!is_new) return entry->second;
    const auto known = std::find(kThreads.begin(), kThreads.end(), name);
    entry->second.number =
        known != kThreads.end() ? static_cast<int32_t>(known - kThreads.begin()) : next_thread_++;
    writer_.NameThread({rank_.rank, entry->second.number}, name);
    return entry->second;
  }

  const planner::Layout& layout_;
  const RankTrace& rank_;
  const double zero_s_;
  planner::TraceWriter& writer_;
  std::map<std::string, GroupThread> threads_;
  int32_t next_thread_ = static_cast<int32_t>(kThreads.size());
};

// Group, sender, receiver.
using Channel = std::tuple<std::string, int32_t, int32_t>;

// Messages of a channel are received in the order of sending.
void EndSendsWithReceives(std::vector<RankTrace>& ranks) {
  std::map<Channel, std::deque<double>> received_s;
  for (const RankTrace& rank : ranks) {
    for (const CommunicationSpan& span : rank.record.communication) {
      if (span.operation != planner::CollectiveKind::kReceive) continue;
      received_s[{span.group, span.peer, rank.rank}].push_back(span.done_s);
    }
  }
  for (RankTrace& rank : ranks) {
    for (CommunicationSpan& span : rank.record.communication) {
      if (span.operation != planner::CollectiveKind::kSend) continue;
      std::deque<double>& ends_s = received_s[{span.group, rank.rank, span.peer}];
      if (ends_s.empty()) continue;
      span.done_s = std::max(span.issued_s, ends_s.front());
      ends_s.pop_front();
    }
  }
}

}  // namespace

std::string StepTrace(const planner::Layout& layout, std::vector<RankTrace> ranks) {
  EndSendsWithReceives(ranks);
  double zero_s = std::numeric_limits<double>::infinity();
  for (const RankTrace& rank : ranks) zero_s = std::min(zero_s, rank.record.step.begin_s);
  planner::TraceWriter writer;
  for (const RankTrace& rank : ranks) RankWriter(layout, rank, zero_s, writer).Write();
  return writer.Finish();
}

}  // namespace meshwright::trial
