// RunLaunch() against a queue in memory, by a clock that only its sleep moves. What a real Slurm
// makes of it is tests/faults/slurm_test.py's.
#include "tools/cli/launcher/fleet_jobs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "absl/strings/str_cat.h"
#include "tools/cli/launcher/slurm_queue.h"

namespace meshwright::cli {
namespace {

using testing::HasSubstr;

class RunLaunchTest : public testing::Test {
 protected:
  struct Job {
    std::string name;
    std::string state;
    std::string owner = "(null)";
  };

  absl::StatusOr<std::string> Run(std::string_view input,
                                  const std::vector<std::string>& arguments) {
    if (arguments == std::vector<std::string>{"sbatch", "--version"}) return "slurm 22.05.8\n";
    if (arguments.front() == "sbatch") {
      if (!refusal_.empty()) return absl::InternalError(refusal_);
      const std::string mark = "--job-name=";
      const size_t begin = input.find(mark) + mark.size();
      const std::string id = absl::StrCat(jobs_.size() + 1);
      jobs_[id] = {std::string(input.substr(begin, input.find('\n', begin) - begin)), "RUNNING"};
      return id + "\n";
    }
    if (arguments.front() == "scancel") {
      for (size_t i = 1; i < arguments.size(); ++i) jobs_[arguments[i]].state = after_scancel_;
      return "";
    }
    std::string text;
    for (const auto& [id, job] : jobs_) {
      absl::StrAppend(&text, id, "|N/A|", job.state, "|n1|None|", job.name, "|", job.owner, "\n");
    }
    return text;
  }

  // Stops it after a time.
  absl::Status Launch(absl::Duration until) {
    FleetLaunch launch;
    launch.fleet.name = "a";
    launch.fleet.nodes = 2;
    launch.poll = absl::Seconds(10);
    const MonotonicTime stop = now_ + until;
    return RunLaunch(launch,
                     {.queue = std::make_shared<SlurmQueue>(
                          [this](std::string_view input, const std::vector<std::string>& arguments,
                                 double) { return Run(input, arguments); }),
                      .log = [this](const LogEntry& entry) { log_ += entry.message + "\n"; },
                      .clock = [this] { return now_; },
                      .sleep = [this](absl::Duration time) { now_ = now_ + time; },
                      .stopped = [this, stop] { return now_ >= stop; }});
  }

  MonotonicTime now_{absl::Hours(5)};
  std::map<std::string, Job> jobs_;
  std::string refusal_;
  std::string after_scancel_ = "CANCELLED";
  std::string log_;
};

TEST_F(RunLaunchTest, SubmitsAJobForEachAgentAndCancelsThemInTheEnd) {
  ASSERT_TRUE(Launch(absl::Minutes(1)).ok());
  ASSERT_EQ(jobs_.size(), 2U);
  EXPECT_EQ(jobs_["1"].name, "a-1");
  EXPECT_EQ(jobs_["2"].name, "a-2");
  for (const auto& [id, job] : jobs_) EXPECT_EQ(job.state, "CANCELLED");
  EXPECT_THAT(log_, HasSubstr("a-1: job 1 is submitted; its output goes to a-1.1.log"));
}

TEST_F(RunLaunchTest, LeavesJobsThatDoNotEndWithAWarning) {
  after_scancel_ = "COMPLETING";
  const MonotonicTime start = now_;
  ASSERT_TRUE(Launch(absl::Minutes(1)).ok());
  EXPECT_LT(now_.since_start - start.since_start, absl::Minutes(2));
  EXPECT_THAT(log_, HasSubstr("stops waiting for 2 of its jobs, which have not ended"));
}

TEST_F(RunLaunchTest, EndsWithTheReasonOnceEveryAgentIsGivenUp) {
  refusal_ = "sbatch ended with exit code 1: Invalid account";
  const absl::Status status = Launch(absl::Hours(10));
  EXPECT_TRUE(absl::IsAborted(status)) << status;
  EXPECT_THAT(std::string(status.message()), HasSubstr("Invalid account"));
  EXPECT_TRUE(jobs_.empty());
}

TEST_F(RunLaunchTest, DoesNotTakeOverJobsOfTheSameName) {
  jobs_["7"] = {"a-2", "PENDING"};
  const absl::Status status = Launch(absl::Minutes(1));
  EXPECT_TRUE(absl::IsInvalidArgument(status)) << status;
  EXPECT_THAT(std::string(status.message()), HasSubstr("job 7 in the queue is called a-2"));
  EXPECT_EQ(jobs_["7"].state, "PENDING");
}

}  // namespace
}  // namespace meshwright::cli
