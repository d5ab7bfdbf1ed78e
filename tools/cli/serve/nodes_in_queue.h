// NodesInQueue() says which nodes of a launcher wait in its batch queue. Sweeps that wait for
// agents show this sentence.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/time/time.h"
#include "tools/cli/launcher/agent_jobs.h"

namespace meshwright::cli {

// Returns the number of nodes whose jobs wait, and since when and why the first of these jobs
// waits: "2 nodes are in the queue: 2 jobs wait, the first (17) since 2026-11-30 14:05 UTC
// (Priority)". Returns an empty text if no job waits. The text changes only if one of these facts
// does. `clock_start` is the time at which the monotonic clock was 0.
std::string NodesInQueue(const std::vector<AgentJob>& jobs, int32_t nodes_per_job,
                         absl::Time clock_start);

}  // namespace meshwright::cli
