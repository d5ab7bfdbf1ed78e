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

void ExpectRefused(const CommandOutput& run, const std::string& sentence) {
  EXPECT_EQ(run.exit_code, 2);
  EXPECT_THAT(run.err, HasSubstr(sentence));
}

TEST(ScalingFlagsTest, RefusesWhatDoesNotGoTogether) {
  ExpectRefused(Serve({"--max-nodes", "4"}), "--max-nodes 4: goes with --launcher slurm only");
  ExpectRefused(Serve({"--partition", "gpu"}), "--partition gpu: goes with --launcher slurm only");
  ExpectRefused(Serve({"--launcher", "slurm"}), "--max-nodes");
  ExpectRefused(Serve({"--launcher", "slurm", "--max-nodes", "4"}), "--devices");
  ExpectRefused(Serve({"--launcher", "slurm", "--max-nodes", "4", "--devices", "cpu:2"}),
                "--agent-server");
  ExpectRefused(Serve({"--launcher", "kubernetes"}), "--launcher");
  ExpectRefused(Scale({"--min-nodes", "5"}), "--min-nodes 5: must be from 0 to --max-nodes, 4");
  ExpectRefused(Scale({"--min-nodes", "-1"}), "--min-nodes");
  ExpectRefused(Scale({}, "0"), "--max-nodes 0: must be a whole number from 1 to 1000");
  ExpectRefused(Scale({"--idle-s", "0"}), "--idle-s");
  ExpectRefused(Scale({"--poll-s", "0"}), "--poll-s");
  ExpectRefused(Scale({"--time", "tomorrow"}), "--time");
  ExpectRefused(Scale({"--gpus-per-node", "8"}), "goes with --devices cuda only");
  ExpectRefused(Scale({"--job-name", "a b"}), "--job-name");
  ExpectRefused(Scale({"--", "--name", "x"}), "is set for each agent");
  ExpectRefused(Scale({"--agent-tls-ca", "/no/such"}), "--agent-tls-ca");
  ExpectRefused(Scale({"--agent-token-file", "/no/such"}), "--agent-token-file");
  ExpectRefused(Scale({"--agent-tls-cert", "/no/such"}),
                "name with --agent-tls-ca who vouches for the server's certificate");
}

// Its database can't be made, which is found only then.
TEST(ScalingFlagsTest, TakesWhatFits) {
  EXPECT_THAT(Scale({"--min-nodes", "4", "--idle-s", "30"}).err, HasSubstr("/nonexistent/x.db"));
}

}  // namespace
}  // namespace meshwright::cli
