#include "tools/cli/launcher/slurm_queue.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

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
       {"--comment=project", "--job-name=x", "--job=x", "--nodes=3", "--array=0-3", "--requeue"}) {
    flags.more = {wrong};
    EXPECT_THAT(std::string(Check(flags).message()), HasSubstr("which the launcher itself sets"))
        << wrong;
  }
  flags.more = {"--nodelist=n[1-4]", "--time-min=5", "--mem-bind=local"};
  EXPECT_TRUE(Check(flags).ok());
}

TEST(SlurmQueueTest, ReadsWhatSqueueIsAskedFor) {
  const auto jobs = Printing(
                        "3|PENDING||Resources|a-1|(null)\n"
                        "4|RUNNING|n1|None|a-2|me|you\n"
                        "5|COMPLETING|n2|None|a-3|(null)\n"
                        "6|NODE_FAIL|n2|NodeDown|a-3|(null)\n"
                        "7|SOMETHING_NEW|n3|None|a-4|(null)\n")
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
