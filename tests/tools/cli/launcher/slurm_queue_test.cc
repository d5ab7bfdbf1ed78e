#include "tools/cli/launcher/slurm_queue.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"

namespace meshwright::cli {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

// A queue whose commands print `text`.
SlurmQueue Printing(const std::string& text) {
  return SlurmQueue(
      [text](std::string_view, const std::vector<std::string>&, double) { return text; });
}

TEST(SlurmQueueTest, GivesTheScriptToSbatchAndTakesTheNumber) {
  std::string script;
  std::vector<std::string> words;
  const SlurmQueue queue([&](std::string_view input, const std::vector<std::string>& arguments,
                             double) -> absl::StatusOr<std::string> {
    script = input;
    words = arguments;
    return "17\n";
  });
  AgentFleet fleet;
  fleet.name = "a";
  fleet.nodes = 1;
  const AgentJobSpec spec = {fleet, "/bin/meshwright", "me", "a-1"};
  EXPECT_EQ(queue.Submit(spec).value(), "17");
  EXPECT_THAT(script, AllOf(HasSubstr("#SBATCH --job-name=a-1\n"),
                            HasSubstr("#SBATCH --comment=me\n"), HasSubstr("/bin/meshwright")));
  EXPECT_THAT(words, ElementsAre("sbatch", "--parsable"));
  EXPECT_EQ(Printing("18;far\n").Submit(spec).value(), "18");
  EXPECT_FALSE(Printing("Submitted batch job 19\n").Submit(spec).ok());
}

TEST(BatchScriptTest, AJobOfSeveralNodesRunsAnAgentOnEachOfThem) {
  AgentFleet fleet;
  fleet.name = "a";
  fleet.nodes = 4;
  fleet.nodes_per_job = 2;
  fleet.devices_text = "cuda";
  fleet.more = {"--log", "it's"};
  EXPECT_THAT(JobNames(fleet), ElementsAre("a-1", "a-3"));
  EXPECT_THAT(AgentsOfJob(fleet, "a-3"), ElementsAre("a-3", "a-4"));
  SlurmJobFlags flags;
  flags.more = {"--switches=1", "--segment=2"};
  const std::string script = BatchScript(fleet, flags, "/bin/meshwright", "a-3");
  EXPECT_THAT(script,
              AllOf(HasSubstr("#SBATCH --job-name=a-3\n#SBATCH --nodes=2\n#SBATCH --ntasks=2\n"),
                    HasSubstr("#SBATCH --switches=1\n#SBATCH --segment=2\n"),
                    HasSubstr("exec srun --ntasks=2 --cpu-bind=none --ntasks-per-node=1 "
                              "--kill-on-bad-exit=0 --wait=0 sh -c 'case $SLURM_PROCID in 0) exec "
                              "/bin/meshwright agent "),
                    HasSubstr(" --name a-3 --log "), HasSubstr(";; 1) exec /bin/meshwright agent "),
                    HasSubstr(" --name a-4 --log ")));
}

TEST(BatchScriptTest, FurtherOptionsAreOneWordEach) {
  SlurmJobFlags flags;
  flags.more = {"--constraint=a100&ib", "--qos=high"};
  EXPECT_TRUE(Check(flags).ok());
  for (const char* wrong : {"switches=1", "-N2", "--", "--comment=a b", "--x=1\n#SBATCH"}) {
    flags.more = {wrong};
    EXPECT_THAT(std::string(Check(flags).message()),
                HasSubstr("must be a long option of sbatch in one word"))
        << wrong;
  }
  // They would hide the jobs from the launcher, which would then submit others without end.
  for (const char* wrong :
       {"--comment=project", "--job-name=x", "--job=x", "--nodes=3", "--array=0-3", "--requeue",
        "--wait", "--dependency=singleton", "--part=x"}) {
    flags.more = {wrong};
    EXPECT_THAT(std::string(Check(flags).message()), HasSubstr("which the launcher itself sets"))
        << wrong;
  }
  flags.more = {"--nodelist=n[1-4]", "--time-min=5", "--mem-bind=local"};
  EXPECT_TRUE(Check(flags).ok());
}

TEST(BatchScriptTest, AJobThatIsRequeuedKeepsItsOutput) {
  AgentFleet fleet;
  fleet.name = "a";
  fleet.nodes = 1;
  SlurmJobFlags flags;
  EXPECT_THAT(BatchScript(fleet, flags, "/bin/meshwright", "a-1"),
              HasSubstr("#SBATCH --no-requeue\n"));
  flags.requeue = true;
  EXPECT_THAT(BatchScript(fleet, flags, "/bin/meshwright", "a-1"),
              HasSubstr("#SBATCH --requeue\n#SBATCH --open-mode=append\n"));
}

TEST(SlurmQueueTest, ReadsWhatSqueueIsAskedFor) {
  const auto jobs = Printing(
                        "3|N/A|PENDING||Resources|a-1|(null)\n"
                        "4|N/A|RUNNING|n1|None|a-2|me|you\n"
                        "5|N/A|COMPLETING|n2|None|a-3|(null)\n"
                        "6|N/A|NODE_FAIL|n2|NodeDown|a-3|(null)\n"
                        "7|N/A|SOMETHING_NEW|n3|None|a-4|(null)\n")
                        .List({"a-1", "a-2", "a-3", "a-4"});
  ASSERT_TRUE(jobs.ok()) << jobs.status();
  EXPECT_THAT(*jobs,
              ElementsAre(QueuedJob{"3", "a-1", JobPhase::kWaiting, "PENDING", "", "Resources"},
                          QueuedJob{"4", "a-2", JobPhase::kRunning, "RUNNING", "n1", "", "me|you"},
                          QueuedJob{"5", "a-3", JobPhase::kEnding, "COMPLETING", "n2", ""},
                          QueuedJob{"6", "a-3", JobPhase::kEnded, "NODE_FAIL", "n2", "NodeDown"},
                          QueuedJob{"7", "a-4", JobPhase::kRunning, "SOMETHING_NEW", "n3", ""}));
  EXPECT_TRUE(Printing("").List({"a-1"})->empty());
  EXPECT_FALSE(Printing("JOBID STATE\n").List({"a-1"}).ok());
}

TEST(SlurmQueueTest, ATaskOfAnArrayHasTheNameOfItsAgent) {
  std::string names;
  const SlurmQueue queue([&](std::string_view, const std::vector<std::string>& arguments,
                             double) -> absl::StatusOr<std::string> {
    for (const std::string& word : arguments) {
      if (word.starts_with("--name=")) names = word;
    }
    return "17|1|RUNNING|n1|None|a|me%2\n"
           "17|3|PENDING||JobArrayTaskLimit|a|me%2\n"
           "18|N/A|RUNNING|n2|None|a|(null)\n"  // somebody's job with the fleet's name
           "19|9|RUNNING|n2|None|a|me%2\n";     // no agent of the fleet
  });
  EXPECT_THAT(
      queue.List({"a-1", "a-2", "a-3"}).value(),
      ElementsAre(QueuedJob{"17_1", "a-1", JobPhase::kRunning, "RUNNING", "n1", "", "me", 2},
                  QueuedJob{"17_3", "a-3", JobPhase::kWaiting, "PENDING", "", "JobArrayTaskLimit",
                            "me", 2}));
  EXPECT_EQ(names, "--name=a,a-1,a-2,a-3");
}

// A fleet of four jobs in arrays, in front of an sbatch that keeps the scripts.
class SlurmArrayTest : public testing::Test {
 protected:
  explicit SlurmArrayTest() {
    fleet_.name = "a";
    fleet_.nodes = 4;
  }

  SlurmQueue Queue(int32_t array) {
    SlurmJobFlags flags;
    flags.array = array;
    return SlurmQueue(
        [this](std::string_view input, const std::vector<std::string>&,
               double) -> absl::StatusOr<std::string> {
          if (!refusal_.ok()) return refusal_;
          scripts_.emplace_back(input);
          return absl::StrCat(16 + scripts_.size(), "\n");
        },
        flags);
  }
  // Returns what was said of each job.
  std::vector<std::string> Submit(const SlurmQueue& queue, const std::vector<std::string>& jobs,
                                  const std::vector<QueuedJob>& present = {}) {
    std::vector<AgentJobSpec> specs;
    for (const std::string& job : jobs) specs.push_back({fleet_, "/bin/meshwright", "me", job});
    std::vector<std::string> said;
    queue.SubmitAll(
        specs, present, [&](const std::string& agent, const absl::StatusOr<std::string>& job) {
          said.push_back(
              absl::StrCat(agent, " ", job.ok() ? *job : std::string(job.status().message())));
          return true;
        });
    return said;
  }
  static QueuedJob Task(const std::string& array, int32_t task, int32_t limit,
                        JobPhase phase = JobPhase::kRunning) {
    return {.id = absl::StrCat(array, "_", task),
            .name = absl::StrCat("a-", task),
            .phase = phase,
            .state = "",
            .node = "",
            .reason = "",
            .array_limit = limit};
  }

  AgentFleet fleet_;
  absl::Status refusal_;
  std::vector<std::string> scripts_;
};

TEST_F(SlurmArrayTest, SubmitsJobsAsTasksOfOneArray) {
  EXPECT_THAT(Submit(Queue(2), {"a-1", "a-2", "a-4"}),
              ElementsAre("a-1 17_1", "a-2 17_2", "a-4 17_4"));
  ASSERT_EQ(scripts_.size(), 1U);
  EXPECT_THAT(scripts_[0], AllOf(HasSubstr("#SBATCH --job-name=a\n#SBATCH --array=1-2,4%2\n"),
                                 HasSubstr("#SBATCH --comment=me%2\n"),
                                 HasSubstr("#SBATCH --output=a-%a.%A_%a.log\n"),
                                 HasSubstr("\n4) exec srun "), HasSubstr(" --name a-4;;\nesac\n")));
  EXPECT_EQ(Queue(2).OutputOf("a-4", "17_4"), "a-4.17_4.log");
}

TEST_F(SlurmArrayTest, ARefusedArrayIsARefusalOfEachOfItsJobs) {
  refusal_ = absl::InternalError("no arrays here");
  EXPECT_THAT(Submit(Queue(2), {"a-1", "a-2"}),
              ElementsAre("a-1 no arrays here", "a-2 no arrays here"));
}

TEST_F(SlurmArrayTest, WithoutTheFlagJobsAreSubmittedOneByOne) {
  EXPECT_THAT(Submit(Queue(0), {"a-1", "a-2"}), ElementsAre("a-1 17", "a-2 18"));
}

TEST_F(SlurmArrayTest, FurtherArraysGetTheRestOfTheLimit) {
  const SlurmQueue queue = Queue(3);
  const std::vector<QueuedJob> full = {Task("17", 1, 3), Task("17", 2, 3), Task("17", 3, 3),
                                       Task("17", 4, 3, JobPhase::kEnded)};
  EXPECT_FALSE(queue.TakesMore(full));
  const std::vector<QueuedJob> present = {Task("17", 1, 1), Task("17", 2, 1, JobPhase::kWaiting),
                                          Task("18", 3, 3)};
  EXPECT_TRUE(queue.TakesMore(present)) << "2 of 3 run at once";
  Submit(queue, {"a-4"}, present);
  EXPECT_THAT(scripts_.at(0), HasSubstr("--array=4%1\n"));
}

TEST(SlurmQueueTest, SaysWhatToDoWhereThereIsNoSlurm) {
  const SlurmQueue queue([](std::string_view, const std::vector<std::string>& arguments,
                            double) -> absl::StatusOr<std::string> {
    return absl::UnavailableError(arguments.front() + " can't be started");
  });
  const AgentFleet fleet;
  const absl::Status status = queue.Check({fleet, "meshwright", "", "a-1"});
  EXPECT_TRUE(absl::IsFailedPrecondition(status)) << status;
  EXPECT_THAT(std::string(status.message()),
              AllOf(HasSubstr("sbatch can't be started"), HasSubstr("login node")));
}

}  // namespace
}  // namespace meshwright::cli
