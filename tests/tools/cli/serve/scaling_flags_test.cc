// What `serve --launcher` refuses before it opens anything.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/tools/command_runner.h"

namespace meshwright::cli {
namespace {

using testing::HasSubstr;

CommandOutput Serve(const std::vector<std::string>& more,
                    const std::string& listen = "127.0.0.1:0") {
  std::vector<std::string> words = {"serve", "--db", "/nonexistent/x.db", "--listen", listen};
  words.insert(words.end(), more.begin(), more.end());
  return RunCommand(words);
}

// With a launcher and all that it needs.
CommandOutput Scale(const std::vector<std::string>& more, const std::string& most = "4") {
  std::vector<std::string> words = {"--launcher", "slurm", "--max-nodes",    most,
                                    "--devices",  "cpu:2", "--agent-server", "127.0.0.1:0"};
  words.insert(words.end(), more.begin(), more.end());
  return Serve(words);
}

void ExpectFlagsRefused(const CommandOutput& run, const std::string& sentence) {
  EXPECT_EQ(run.exit_code, 2);
  EXPECT_THAT(run.err, HasSubstr(sentence));
}

TEST(ScalingFlagsTest, RefusesWhatDoesNotGoTogether) {
  ExpectFlagsRefused(Serve({"--max-nodes", "4"}), "--max-nodes 4: goes with --launcher only");
  ExpectFlagsRefused(Serve({"--partition", "gpu"}), "--partition gpu: goes with --launcher only");
  ExpectFlagsRefused(Serve({"--launcher", "slurm"}), "--max-nodes");
  ExpectFlagsRefused(Serve({"--launcher", "slurm", "--max-nodes", "4"}), "--devices");
  ExpectFlagsRefused(Serve({"--launcher", "slurm", "--max-nodes", "4", "--devices", "cpu:2"}),
                     "--agent-server");
  ExpectFlagsRefused(Serve({"--launcher", "kubernetes"}), "--launcher");
  ExpectFlagsRefused(Scale({"--min-nodes", "5"}),
                     "--min-nodes 5: must be from 0 to --max-nodes, 4");
  ExpectFlagsRefused(Scale({"--min-nodes", "-1"}), "--min-nodes");
  ExpectFlagsRefused(Scale({}, "0"), "--max-nodes 0: must be a whole number from 1 to 1000");
  ExpectFlagsRefused(Scale({"--idle-s", "0"}), "--idle-s");
  ExpectFlagsRefused(Scale({"--poll-s", "0"}), "--poll-s");
  ExpectFlagsRefused(Scale({"--time", "tomorrow"}), "--time");
  ExpectFlagsRefused(Scale({"--gpus-per-node", "8"}), "goes with --devices cuda only");
  ExpectFlagsRefused(Scale({"--job-name", "a b"}), "--job-name");
  ExpectFlagsRefused(Scale({"--array", "3"}), "--array 3: must be at least 4");
  ExpectFlagsRefused(Scale({"--sbatch-template", "/no/such"}), "--sbatch-template");
  ExpectFlagsRefused(Scale({"--", "--name", "x"}), "is set for each agent");
  ExpectFlagsRefused(Scale({"--agent-tls-ca", "/no/such"}), "--agent-tls-ca");
  ExpectFlagsRefused(Scale({"--agent-token-file", "/no/such"}), "--agent-token-file");
  ExpectFlagsRefused(Scale({"--agent-tls-cert", "/no/such"}),
                     "name the CA of the server's certificate with --agent-tls-ca");
}

// Its database can't be made, which is found only then.
TEST(ScalingFlagsTest, TakesWhatFits) {
  EXPECT_THAT(Scale({"--min-nodes", "4", "--idle-s", "30"}).err, HasSubstr("/nonexistent/x.db"));
}

}  // namespace
}  // namespace meshwright::cli
