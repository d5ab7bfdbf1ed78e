#include "tools/cli/launcher/agent_jobs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace meshwright::cli {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

// Two agents, a and b, in front of a queue that the test writes, at a time that it sets.
class AgentJobsTest : public testing::Test {
 protected:
  JobDecisions Observe(const std::vector<QueuedJob>& queue) { return jobs_.Observe(now_, queue); }
  JobDecisions ObserveAfter(absl::Duration time, const std::vector<QueuedJob>& queue) {
    now_ = now_ + time;
    return Observe(queue);
  }
  // Both agents have a job, 1 and 2, that runs.
  void StartBoth() {
    EXPECT_THAT(Observe({}).submit, ElementsAre("a", "b"));
    jobs_.Submitted("a", "1");
    jobs_.Submitted("b", "2");
    EXPECT_THAT(Observe({Running("1", "a"), Running("2", "b")}).submit, IsEmpty());
  }

  static QueuedJob Waiting(const std::string& id, const std::string& name,
                           const std::string& reason = "") {
    return {.id = id, .name = name, .state = "PENDING", .node = "", .reason = reason};
  }
  static QueuedJob Running(const std::string& id, const std::string& name) {
    return {.id = id,
            .name = name,
            .phase = JobPhase::kRunning,
            .state = "RUNNING",
            .node = "n" + id,
            .reason = ""};
  }
  static QueuedJob Ending(const std::string& id, const std::string& name) {
    return {.id = id,
            .name = name,
            .phase = JobPhase::kEnding,
            .state = "COMPLETING",
            .node = "n" + id,
            .reason = ""};
  }
  static QueuedJob Ended(const std::string& id, const std::string& name,
                         const std::string& state = "FAILED") {
    return {.id = id,
            .name = name,
            .phase = JobPhase::kEnded,
            .state = state,
            .node = "n" + id,
            .reason = "NonZeroExitCode"};
  }
  static std::string Said(const JobDecisions& decisions) {
    std::string text;
    for (const LogEntry& entry : decisions.log) text += entry.message + "\n";
    return text;
  }

  MonotonicTime now_{absl::Hours(5)};
  AgentJobs jobs_{{"a", "b"}, JobPolicy{}};
};

TEST_F(AgentJobsTest, EachAgentGetsAJobAndIsToldOfOnce) {
  EXPECT_THAT(Observe({}).submit, ElementsAre("a", "b"));
  jobs_.Submitted("a", "1");
  jobs_.Submitted("b", "2");
  const std::vector<QueuedJob> queue = {Waiting("1", "a", "Resources"), Running("2", "b")};
  const JobDecisions decisions = Observe(queue);
  EXPECT_THAT(decisions.submit, IsEmpty());
  EXPECT_EQ(Said(decisions), "a: job 1 waits (Resources)\nb: job 2 runs on n2\n");
  EXPECT_THAT(Observe(queue).log, IsEmpty());
  EXPECT_EQ(Said(Observe({Waiting("1", "a", "Priority"), Running("2", "b")})),
            "a: job 1 waits (Priority)\n");
}

TEST_F(AgentJobsTest, AJobThatRanForAWhileIsReplacedAtOnce) {
  StartBoth();
  const JobDecisions decisions =
      ObserveAfter(absl::Minutes(2), {Ended("1", "a", "TIMEOUT"), Running("2", "b")});
  EXPECT_THAT(decisions.submit, ElementsAre("a"));
  EXPECT_THAT(Said(decisions),
              HasSubstr("a: job 1 ended as TIMEOUT (NonZeroExitCode) after 120 s on n1"));
}

TEST_F(AgentJobsTest, AJobIsReplacedOnlyOnceItsNodeIsFree) {
  StartBoth();
  EXPECT_THAT(ObserveAfter(absl::Minutes(2), {Ending("1", "a"), Running("2", "b")}).submit,
              IsEmpty());
  EXPECT_THAT(Observe({Ended("1", "a", "CANCELLED"), Running("2", "b")}).submit, ElementsAre("a"));
}

TEST_F(AgentJobsTest, AJobThatTheQueueStartsAgainIsFollowedAndNotReplaced) {
  StartBoth();
  Observe({Ending("1", "a"), Running("2", "b")});
  const JobDecisions decisions =
      ObserveAfter(absl::Minutes(2), {Waiting("1", "a", "BeginTime"), Running("2", "b")});
  EXPECT_THAT(decisions.submit, IsEmpty());
  EXPECT_EQ(Said(decisions), "a: job 1 waits (BeginTime)\n");
  EXPECT_EQ(jobs_.Jobs().at(0).waiting_since, now_);
  EXPECT_EQ(jobs_.Jobs().at(0).running_since, MonotonicTime::Never());
  EXPECT_THAT(Said(ObserveAfter(absl::Minutes(2), {Running("1", "a"), Running("2", "b")})),
              HasSubstr("a: job 1 runs on n1"));
  // Only its last run counts.
  EXPECT_THAT(Said(ObserveAfter(absl::Seconds(9), {Ended("1", "a"), Running("2", "b")})),
              HasSubstr("after 9 s on n1; submits another in 5 s"));
}

TEST_F(AgentJobsTest, AJobThatTheQueueHasForgottenHasEnded) {
  StartBoth();
  const JobDecisions decisions = ObserveAfter(absl::Minutes(2), {Running("2", "b")});
  EXPECT_THAT(decisions.submit, ElementsAre("a"));
  EXPECT_THAT(Said(decisions), HasSubstr("forgotten"));
}

TEST_F(AgentJobsTest, JobsThatEndAtOnceFollowEachOtherEverMoreSlowlyUntilTheAgentIsGivenUp) {
  EXPECT_THAT(Observe({}).submit, ElementsAre("a", "b"));
  jobs_.Submitted("b", "99");
  const QueuedJob other = Running("99", "b");
  std::vector<int64_t> pauses_s;
  for (int job = 1; job <= 5; ++job) {
    jobs_.Submitted("a", std::to_string(job));
    JobDecisions decisions = Observe({Ended(std::to_string(job), "a"), other});
    int64_t pause_s = 0;
    while (decisions.submit.empty() && pause_s < 1000) {
      decisions = ObserveAfter(absl::Seconds(1), {Ended(std::to_string(job), "a"), other});
      ++pause_s;
    }
    pauses_s.push_back(pause_s);
  }
  EXPECT_THAT(pauses_s, ElementsAre(5, 10, 20, 40, 1000));
  EXPECT_TRUE(jobs_.GivenUp().ok()) << "b still runs";
}

TEST_F(AgentJobsTest, OneThatRanForAWhileStartsTheCountAnew) {
  StartBoth();
  EXPECT_THAT(Observe({Ended("1", "a"), Running("2", "b")}).submit, IsEmpty());
  EXPECT_THAT(ObserveAfter(absl::Seconds(5), {Running("2", "b")}).submit, ElementsAre("a"));
  jobs_.Submitted("a", "3");
  Observe({Running("3", "a"), Running("2", "b")});
  EXPECT_THAT(ObserveAfter(absl::Hours(1), {Ended("3", "a"), Running("2", "b")}).submit,
              ElementsAre("a"));
  jobs_.Submitted("a", "4");
  EXPECT_THAT(Said(Observe({Ended("4", "a"), Running("2", "b")})), HasSubstr("another in 5 s"));
}

TEST_F(AgentJobsTest, ARefusedSubmissionCountsAsAFailureAndAllGivenUpIsAnError) {
  AgentJobs jobs({"a"}, JobPolicy{.most_failures = 2});
  EXPECT_THAT(jobs.Observe(now_, {}).submit, ElementsAre("a"));
  const absl::Status why = absl::InternalError("Invalid partition name specified");
  EXPECT_THAT(Said(jobs.NotSubmitted(now_, "a", why)),
              AllOf(HasSubstr("Invalid partition"), HasSubstr("another in 5 s")));
  EXPECT_TRUE(jobs.GivenUp().ok());
  now_ = now_ + absl::Seconds(5);
  EXPECT_THAT(jobs.Observe(now_, {}).submit, ElementsAre("a"));
  const JobDecisions decisions = jobs.NotSubmitted(now_, "a", why);
  EXPECT_EQ(decisions.log.back().level, LogLevel::kError);
  EXPECT_THAT(Said(decisions), HasSubstr("a: is given up"));
  EXPECT_TRUE(absl::IsAborted(jobs.GivenUp()));
  EXPECT_THAT(std::string(jobs.GivenUp().message()), HasSubstr("a: no job could be submitted"));
  EXPECT_THAT(jobs.Observe(now_ + absl::Hours(1), {}).submit, IsEmpty());
}

TEST_F(AgentJobsTest, AJobWhoseNumberWasNeverHeardIsFoundByItsName) {
  EXPECT_THAT(Observe({}).submit, ElementsAre("a", "b"));
  jobs_.Submitted("b", "2");
  jobs_.NotSubmitted(now_, "a", absl::DeadlineExceededError("sbatch did not end"));
  const JobDecisions decisions =
      ObserveAfter(absl::Minutes(1), {Running("1", "a"), Running("2", "b")});
  EXPECT_THAT(decisions.submit, IsEmpty());
  EXPECT_THAT(decisions.cancel, IsEmpty());
}

TEST_F(AgentJobsTest, ASecondJobOfANameIsCancelled) {
  StartBoth();
  const JobDecisions decisions = Observe({Running("1", "a"), Waiting("3", "a"), Running("2", "b")});
  EXPECT_THAT(decisions.cancel, ElementsAre("3"));
  EXPECT_THAT(decisions.submit, IsEmpty());
}

TEST_F(AgentJobsTest, AStopCancelsEveryJobAndSubmitsNone) {
  StartBoth();
  jobs_.Stop();
  EXPECT_THAT(Observe({Running("1", "a"), Waiting("2", "b"), Waiting("3", "b")}).cancel,
              UnorderedElementsAre("1", "2", "3"));
  EXPECT_EQ(jobs_.live(), 3);
  const JobDecisions decisions = Observe({Ending("1", "a"), Ended("2", "b", "CANCELLED")});
  EXPECT_THAT(decisions.cancel, IsEmpty());
  EXPECT_THAT(decisions.submit, IsEmpty());
  EXPECT_EQ(jobs_.live(), 1);
  Observe({Ended("1", "a", "CANCELLED"), Ended("2", "b", "CANCELLED")});
  EXPECT_EQ(jobs_.live(), 0);
}

TEST_F(AgentJobsTest, KeepsAsManyJobsAsItAimsAt) {
  jobs_.Aim({.jobs = 0});
  EXPECT_THAT(Observe({}).submit, IsEmpty());
  jobs_.Aim({.jobs = 1});
  EXPECT_THAT(Observe({}).submit, ElementsAre("a"));
  jobs_.Submitted("a", "1");
  EXPECT_THAT(Observe({Running("1", "a")}).submit, IsEmpty());
  jobs_.Aim({.jobs = 2});
  EXPECT_THAT(Observe({Running("1", "a")}).submit, ElementsAre("b"));
}

// Else each name would fail in turn, as fast as the queue is looked at.
TEST_F(AgentJobsTest, AnAgentInItsPauseKeepsItsPlace) {
  jobs_.Aim({.jobs = 1});
  EXPECT_THAT(Observe({}).submit, ElementsAre("a"));
  jobs_.NotSubmitted(now_, "a", absl::InternalError("no"));
  EXPECT_THAT(ObserveAfter(absl::Seconds(4), {}).submit, IsEmpty());
  EXPECT_THAT(ObserveAfter(absl::Seconds(1), {}).submit, ElementsAre("a"));
}

TEST_F(AgentJobsTest, JobsBeyondTheAimGoOnUntilTheyAreLetGo) {
  StartBoth();
  jobs_.Aim({.jobs = 1});
  const std::vector<QueuedJob> queue = {Running("1", "a"), Running("2", "b")};
  EXPECT_THAT(Observe(queue).cancel, IsEmpty());
  EXPECT_EQ(jobs_.Jobs().size(), 2U);
  EXPECT_EQ(jobs_.LetGo("a"), "1");
  EXPECT_THAT(Observe(queue).cancel, ElementsAre("1")) << "scancel may have failed";
  ASSERT_EQ(jobs_.Jobs().size(), 1U);
  EXPECT_EQ(jobs_.Jobs()[0].agent, "b");
  EXPECT_THAT(Observe({Ending("1", "a"), Running("2", "b")}).cancel, IsEmpty());
  const JobDecisions gone = Observe({Ended("1", "a", "CANCELLED"), Running("2", "b")});
  EXPECT_THAT(gone.submit, IsEmpty());
  ASSERT_EQ(gone.log.size(), 1U);
  EXPECT_EQ(gone.log[0].level, LogLevel::kInfo) << "it is no failure";
}

TEST_F(AgentJobsTest, OneThatWasLetGoComesBackOnceItsJobHasEnded) {
  StartBoth();
  jobs_.LetGo("b");
  EXPECT_THAT(Observe({Running("1", "a"), Ending("2", "b")}).submit, IsEmpty());
  EXPECT_THAT(Observe({Running("1", "a"), Ended("2", "b", "CANCELLED")}).submit, ElementsAre("b"));
}

TEST_F(AgentJobsTest, AClosedNameGetsNoJobAndItsJobDoesNotCount) {
  jobs_.Aim({.jobs = 1, .closed = {"a"}});
  EXPECT_THAT(Observe({}).submit, ElementsAre("b"));
  jobs_.Submitted("b", "2");
  jobs_.Aim({.jobs = 1, .closed = {"b"}});
  EXPECT_THAT(Observe({Running("2", "b")}).submit, ElementsAre("a"));
}

}  // namespace
}  // namespace meshwright::cli
