#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "nlohmann/json.hpp"
#include "tests/tools/command_runner.h"
#include "tests/tools/golden.h"

namespace meshwright::cli {
namespace {

using nlohmann::json;
using testing::HasSubstr;

// Hagemann et al. measured this model on this many of these GPUs with this framework.
std::vector<std::string> Study(std::vector<std::string> more = {}) {
  std::vector<std::string> arguments = {
      "study", "--model",     "hagemann-13b",        "--cluster", "a100-80", "--gpus",
      "64",    "--framework", "aleph-alpha-scaling", "--seq-len", "2048",    "--global-batch",
      "2048"};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return arguments;
}

TEST(StudyText, MatchesTheGoldenFile) {
  const CommandOutput run = RunCommand(Study());
  EXPECT_EQ(run.exit_code, 0) << run.err;
  ExpectGolden("study_hagemann_13b.txt", run.out);
}

// The paper's own words for 13 B parameters (section 4): fused kernels are worth much, and nothing
// needs to be recomputed.
TEST(StudyJson, FindsWhatThePaperMeasured) {
  const CommandOutput run = RunCommand(Study({"--format", "json"}));
  ASSERT_EQ(run.exit_code, 0) << run.err;
  std::map<std::string, json> by_name;
  const json answer = json::parse(run.out);
  for (const json& ablation : answer["ablations"]) {
    by_name[ablation["name"]] = ablation;
  }
  EXPECT_EQ(by_name["kernels"]["verdict"], "holds");
  EXPECT_GE(by_name["recompute"]["gain"].get<double>(), 0.0);
  EXPECT_GE(by_name["micro_batch"]["gain"].get<double>(), -0.05);
}

TEST(StudyCommand, DrawsAndTakesACondition) {
  const std::string path = testing::TempDir() + "/study-" + std::to_string(getpid()) + ".svg";
  const CommandOutput run = RunCommand(Study({"--fix", "tp=2", "--plot", path}));
  EXPECT_EQ(run.exit_code, 0) << run.err;
  std::ifstream file(path);
  const std::string svg((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  EXPECT_THAT(svg, HasSubstr("micro-batch 1"));
  EXPECT_THAT(svg, HasSubstr("tp2."));
  EXPECT_THAT(svg, testing::Not(HasSubstr(">tp4.")));
  std::filesystem::remove(path);
  EXPECT_EQ(RunCommand(Study({"--fix", "tp=5"})).exit_code, 2);
}

}  // namespace
}  // namespace meshwright::cli
