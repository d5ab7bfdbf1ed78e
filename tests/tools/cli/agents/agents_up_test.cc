// What `agents up` prints with --dry-run, and what it refuses.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>

#include "tests/tools/command_runner.h"
#include "tests/tools/golden.h"
#include "tools/cli/launcher/shell_words.h"

namespace meshwright::cli {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

CommandOutput Up(const std::string& launcher, std::vector<std::string> more,
                 const std::string& devices = "cpu:2") {
  std::vector<std::string> words = {
      "agents", "up", "--launcher", launcher, "--server", "10.0.0.1:7077", "--devices", devices};
  if (std::find(more.begin(), more.end(), "--nodes") == more.end()) {
    words.insert(words.end(), {"--nodes", "4"});
  }
  words.insert(words.end(), more.begin(), more.end());
  return RunCommand(words, "/opt/mesh wright/bin");
}

void ExpectRefused(const CommandOutput& run, const std::string& sentence) {
  EXPECT_EQ(run.exit_code, 2);
  EXPECT_EQ(run.out, "");
  EXPECT_THAT(run.err, HasSubstr(sentence));
}

TEST(ShellLineTest, QuotesWhatAShellWouldRead) {
  EXPECT_EQ(ShellLine({"run", "--path=/a/b.c", "two words", "it's", "$HOME", ""}),
            "run --path=/a/b.c 'two words' 'it'\\''s' '$HOME' ''");
}

TEST(AgentsUpTest, PrintsTheBatchScriptOfAnAgent) {
  const CommandOutput run =
      Up("slurm",
         {"--partition", "gpu", "--time", "12:00:00", "--account", "lab", "--gpus-per-node", "8",
          "--tls-ca", "tls/my ca.pem", "--token-file", "tls/{name}.token", "--dry-run", "--",
          "--no-benchmark", "--memory-limit-gib", "70"},
         "cuda");
  EXPECT_EQ(run.exit_code, 0) << run.err;
  ExpectGolden("agents_up_slurm.sh", run.out);
}

TEST(AgentsUpTest, PrintsTheArrayOfAllAgentsInTheSitesScript) {
  const std::string site = testing::TempDir() + "/site.sh";
  std::ofstream(site) << "#!/bin/bash -l\n"
                         "#SBATCH --qos=low --mem-per-cpu=2G\n"
                         "module load cuda\n"
                         "{agents}\n"
                         "echo \"agents ended\"\n";
  const CommandOutput run = Up("slurm", {"--array", "2", "--nodes-per-job", "2", "--requeue",
                                         "--sbatch-template", site, "--dry-run"});
  EXPECT_EQ(run.exit_code, 0) << run.err;
  ExpectGolden("agents_up_slurm_array.sh", run.out);
}

TEST(AgentsUpTest, PrintsTheJobSetsOfGpuNodes) {
  const CommandOutput run = Up("kubernetes", {"--image",         "meshwright:1",
                                              "--namespace",     "training",
                                              "--secret",        "meshwright-access",
                                              "--nodes",         "2",
                                              "--gpus-per-node", "8",
                                              "--tls-ca",        "/etc/meshwright/ca.pem",
                                              "--token-file",    "/etc/meshwright/{name}.token",
                                              "--job-name",      "tuning",
                                              "--dry-run",       "--",
                                              "--advertise",     "$(POD_IP)"},
                               "cuda");
  EXPECT_EQ(run.exit_code, 0) << run.err;
  ExpectGolden("agents_up_jobset.json", run.out);
}

TEST(AgentsUpTest, AJobSetOfProcessorsAsksForCores) {
  const CommandOutput run = Up("kubernetes", {"--image", "i", "--dry-run"});
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_THAT(run.out, AllOf(HasSubstr("\"cpu\": \"2\""), HasSubstr("\"meshwright-agent-4\""),
                             Not(HasSubstr("\"meshwright-agent-5\""))));
}

TEST(AgentsUpTest, RefusesWhatALauncherCanNotTake) {
  ExpectRefused(Up("slurm", {"--nodes", "0"}), "--nodes");
  ExpectRefused(Up("slurm", {}, "tpu"), "must be cpu:N");
  ExpectRefused(Up("slurm", {"--time", "tomorrow"}), "must be minutes, HH:MM:SS or D-HH:MM:SS");
  ExpectRefused(Up("slurm", {"--time", "1:30"}), "--time");
  ExpectRefused(Up("slurm", {"--partition", "a b"}), "--partition");
  ExpectRefused(Up("slurm", {"--job-name", "a b"}), "--job-name");
  ExpectRefused(Up("slurm", {"--poll-s", "0"}), "--poll-s");
  ExpectRefused(Up("slurm", {"--gpus-per-node", "8"}), "goes with --devices cuda only");
  ExpectRefused(Up("slurm", {"--image", "i"}), "goes with --launcher kubernetes only");
  ExpectRefused(Up("slurm", {"--array", "-1"}), "--array");
  ExpectRefused(Up("slurm", {"--sbatch-template", "/no/such"}), "--sbatch-template");
  ExpectRefused(Up("srun", {"--requeue"}), "goes with --launcher slurm only");
  ExpectRefused(Up("command", {"--array", "2"}), "goes with --launcher slurm only");
  ExpectRefused(Up("slurm", {"--", "--name", "x"}), "is set for each agent");
  ExpectRefused(Up("slurm", {"--token-file", "/no/such"}), "--token-file");
  ExpectRefused(Up("kubernetes", {"--dry-run"}), "--image");
  ExpectRefused(Up("kubernetes", {"--image", "i", "--dry-run"}, "cuda"), "--gpus-per-node");
  ExpectRefused(Up("kubernetes", {"--image", "i", "--dry-run", "--job-name", "A"}), "--job-name");
  ExpectRefused(Up("kubernetes", {"--image", "i", "--dry-run", "--time", "10"}),
                "goes with --launcher slurm only");
  ExpectRefused(Up("kubernetes", {"--image", "i"}), "kubectl proxy");
  ExpectRefused(Up("kubernetes", {"--image", "i", "--kube-api", "http://10.0.0.1:80"}),
                "plain HTTP is for 127.0.0.1 alone");
  ExpectRefused(Up("kubernetes", {"--image", "i", "--memory", "64 GB"}), "--memory");
  ExpectRefused(Up("kubernetes", {"--image", "i", "--rdma-resource", "hca"}), "must be NAME=N");
  ExpectRefused(Up("kubernetes", {"--image", "i", "--topology-key", "zone"}),
                "--nodes-per-job above 1");
  ExpectRefused(Up("kubernetes", {"--image", "i", "--nodes-per-job", "3"}), "multiple");
  ExpectRefused(Up("slurm", {"--kube-api", "https://a"}), "goes with --launcher kubernetes only");
}

TEST(AgentsUpTest, TakesTheTimesThatSlurmTakes) {
  for (const std::string time : {"90", "12:00:00", "1-00:00:00"}) {
    const CommandOutput run = Up("slurm", {"--time", time, "--dry-run"});
    EXPECT_EQ(run.exit_code, 0) << run.err;
    EXPECT_THAT(run.out, HasSubstr("#SBATCH --time=" + time + "\n"));
  }
}

}  // namespace
}  // namespace meshwright::cli
