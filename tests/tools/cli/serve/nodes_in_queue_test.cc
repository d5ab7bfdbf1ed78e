#include "tools/cli/serve/nodes_in_queue.h"

#include <gtest/gtest.h>

namespace meshwright::cli {
namespace {

AgentJob WaitingJob(const std::string& id, absl::Duration since, const std::string& reason = "") {
  return {.agent = "a", .id = id, .reason = reason, .waiting_since = {since}};
}

const absl::Time kStartOfClock =
    absl::FromCivil(absl::CivilMinute(2026, 11, 30, 14, 0), absl::UTCTimeZone());

TEST(NodesInQueueTest, NamesTheJobThatHasWaitedLongest) {
  EXPECT_EQ(NodesInQueue({WaitingJob("17", absl::Minutes(5), "Priority")}, 1, kStartOfClock),
            "1 node is in the queue: job 17 has waited since 2026-11-30 14:05 UTC (Priority)");
  EXPECT_EQ(NodesInQueue({WaitingJob("18", absl::Minutes(6)), WaitingJob("17", absl::Minutes(5))},
                         4, kStartOfClock),
            "8 nodes are in the queue: 2 jobs wait, the first (17) since 2026-11-30 14:05 UTC");
}

TEST(NodesInQueueTest, SaysNothingOfOtherJobs) {
  AgentJob runs;
  runs.phase = JobPhase::kRunning;
  AgentJob submitted;
  EXPECT_EQ(NodesInQueue({runs, submitted}, 1, kStartOfClock), "");
}

}  // namespace
}  // namespace meshwright::cli
