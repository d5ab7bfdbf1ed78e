#include "tools/cli/launcher/job_array.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace meshwright::cli {
namespace {

TEST(JobArrayTest, TasksAreTheNumbersOfTheJobs) {
  EXPECT_EQ(FleetOfJob("my-agent-12"), "my-agent");
  EXPECT_EQ(TaskOfJob("my-agent-12"), "12");
  EXPECT_EQ(TasksOfJobs({"a-3"}), "3");
  EXPECT_EQ(TasksOfJobs({"a-1", "a-2", "a-3", "a-5", "a-7", "a-8"}), "1-3,5,7-8");
  EXPECT_EQ(TasksOfJobs({"a-1", "a-5", "a-9"}), "1,5,9") << "jobs of four nodes";
}

TEST(JobArrayTest, JobsWithoutALimitAllRunAtOnce) {
  EXPECT_EQ(MostAtOnce({}), 0);
  std::vector<QueuedJob> jobs(3);
  jobs[0].id = "17";
  jobs[1].id = "18";
  jobs[2].id = "19";
  jobs[2].phase = JobPhase::kEnded;
  EXPECT_EQ(MostAtOnce(jobs), 2);
}

TEST(JobArrayTest, ACommentHasTheOwnerAndTheLimit) {
  EXPECT_EQ(ToText(ArrayComment{"me/2", 4}), "me/2%4");
  for (const ArrayComment& comment :
       {ArrayComment{"me/2", 4}, ArrayComment{"", 1}, ArrayComment{"me", 0}}) {
    EXPECT_EQ(ReadArrayComment(ToText(comment)), comment) << ToText(comment);
  }
  EXPECT_EQ(ReadArrayComment("50%off"), (ArrayComment{"50%off", 0}));
}

}  // namespace
}  // namespace meshwright::cli
