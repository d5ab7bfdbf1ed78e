#include "tools/cli/serve/nodes_in_queue.h"

#include "absl/strings/str_cat.h"

namespace meshwright::cli {

std::string NodesInQueue(const std::vector<AgentJob>& jobs, int32_t nodes_per_job,
                         absl::Time clock_start) {
  int32_t waiting = 0;
  const AgentJob* first = nullptr;
  for (const AgentJob& job : jobs) {
    // A job that was just submitted has not been seen in the queue.
    if (job.waiting_since == MonotonicTime::Never()) continue;
    ++waiting;
    if (first == nullptr || job.waiting_since < first->waiting_since) first = &job;
  }
  if (first == nullptr) return "";
  const int32_t nodes = waiting * nodes_per_job;
  const std::string since = absl::FormatTime(
      "%Y-%m-%d %H:%M UTC", clock_start + first->waiting_since.since_start, absl::UTCTimeZone());
  return absl::StrCat(nodes, nodes == 1 ? " node is" : " nodes are", " in the queue: ",
                      waiting == 1
                          ? absl::StrCat("job ", first->id, " has waited since ")
                          : absl::StrCat(waiting, " jobs wait, the first (", first->id, ") since "),
                      since, first->reason.empty() ? "" : absl::StrCat(" (", first->reason, ")"));
}

}  // namespace meshwright::cli
