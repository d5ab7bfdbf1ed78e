#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "nlohmann/json.hpp"
#include "tests/tools/cli/toy_cluster.h"
#include "tests/tools/command_runner.h"
#include "tests/tools/golden.h"

namespace meshwright::cli {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using testing::HasSubstr;

// Invented runs of an invented cluster, so that no preset's figures show here.
constexpr char kReplayedRuns[] =
    "sweep,model,layers,hidden,ffn,heads,kv_heads,vocab,seq,gpu,gpus,tp,pp,dp,mbs,gbs,schedule,"
    "outcome,step_time_s\n"
    "small,llama-x,16,2048,5632,16,16,32000,2048,toy,8,1,1,8,1,64,,ok,2.1\n"
    "small,llama-x,16,2048,5632,16,16,32000,2048,toy,8,2,1,4,1,64,,ok,2.0\n"
    "large,llama-y,40,5120,13824,40,40,32000,2048,toy,8,1,1,8,8,64,,oom,\n"
    "small,llama-x,16,2048,5632,16,16,32000,2048,toy,8,1,2,4,1,64,,ok,2.9\n"
    "small,llama-x,16,2048,5632,16,16,32000,2048,toy,8,4,1,2,1,64,,error,\n"
    "small,llama-x,16,2048,5632,16,16,32000,2048,toy,8,1,1,8,8,64,,oom,\n"
    "small,llama-x,16,2048,5632,16,16,32000,2048,toy,8,1,1,8,1,128,,ok,4.0\n"
    "odd,mixtral-y,40,5120,13824,40,40,32000,2048,toy,8,8,1,1,1,64,,ok,9.0\n";

class ReplayCommandTest : public testing::Test {
 protected:
  void SetUp() override {
    fs::create_directories(folder_);
    std::ofstream(folder_ / "runs.csv") << kReplayedRuns;
    std::ofstream(folder_ / "toy.json") << kToyCluster;
  }
  void TearDown() override { fs::remove_all(folder_); }

  CommandOutput Run(std::vector<std::string> more) const {
    std::vector<std::string> arguments = {"replay", "--measurements", folder_ / "runs.csv",
                                          "--presets", folder_ / "toy.json"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return RunCommand(arguments);
  }

  const fs::path folder_ =
      fs::path(testing::TempDir()) / ("replay_command_test-" + std::to_string(getpid()));
};

TEST_F(ReplayCommandTest, TextMatchesTheGoldenFile) {
  const CommandOutput run = Run({});
  EXPECT_EQ(run.exit_code, 0) << run.err;
  ExpectGolden("replay_invented_runs.txt", run.out);
}

TEST_F(ReplayCommandTest, OneSweepIsShownTrialByTrial) {
  const CommandOutput run = Run({"--sweep", "large"});
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_THAT(run.out, HasSubstr("stopped: every layout that is left runs out of memory"));
  const CommandOutput small = Run({"--sweep", "small", "--trials", "1", "--format", "json"});
  const json object = json::parse(small.out);
  ASSERT_EQ(object["sweeps"].size(), 2u);
  for (const json& sweep : object["sweeps"]) {
    EXPECT_EQ(sweep["trials"], 1);
    EXPECT_EQ(sweep["trial_rows"].size(), 1u);
  }
  // Rows are counted over the whole file.
  EXPECT_EQ(object["sweeps"][1]["trial_rows"][0], 6);
}

TEST_F(ReplayCommandTest, WhereNoRowCanBeModelledTheExitCodeSaysSo) {
  const CommandOutput run = Run({"--sweep", "odd"});
  EXPECT_EQ(run.exit_code, 3);
  EXPECT_THAT(run.out, HasSubstr("1 sweep has no row that the planner can model"));
}

TEST_F(ReplayCommandTest, FlagsThatCantBeAreRefused) {
  const auto expect_error = [](const CommandOutput& run, const char* part) {
    EXPECT_EQ(run.exit_code, 2);
    EXPECT_THAT(run.err, HasSubstr(part));
  };
  expect_error(Run({"--sweep", "smal"}), "--sweep smal: must be the sweep of a row");
  expect_error(Run({"--trials", "0"}), "--trials 0: must be");
  expect_error(Run({"--min-gain", "-1"}), "--min-gain -1: must be");
  expect_error(RunCommand({"replay"}), "--measurements is required");
  expect_error(RunCommand({"replay", "--measurements", "/no/such.csv"}), "cannot be read");
}

}  // namespace
}  // namespace meshwright::cli
