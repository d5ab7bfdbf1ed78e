#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>

#include "nlohmann/json.hpp"
#include "tests/tools/command_runner.h"
#include "tests/tools/golden.h"

namespace meshwright::cli {
namespace {

using nlohmann::json;
using testing::HasSubstr;

// A model of the size of Lamy-Poirier's largest, on A100s. Its tokens and its critical batch are
// chosen here: 300 billion, as for GPT-3, and 6 million tokens a batch.
std::vector<std::string> TrillionParameters(std::vector<std::string> more = {}) {
  const std::string folder = std::getenv("MESHWRIGHT_SOURCE_DIR");
  std::vector<std::string> arguments = {
      "fastest",     "--model",   folder + "/tests/golden/gpt-1.3t.json",
      "--cluster",   "a100-80",   "--gpus",
      "8192..65536", "--seq-len", "2560",
      "--tokens",    "300B",      "--critical-batch",
      "2400"};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return arguments;
}

std::vector<std::string> Small(std::vector<std::string> more = {}) {
  std::vector<std::string> arguments = {
      "fastest",   "--model", "llama-2-7b", "--cluster", "a100-80",          "--gpus", "8..32",
      "--seq-len", "4096",    "--tokens",   "1T",        "--critical-batch", "32"};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return arguments;
}

// arXiv 2106.02679, abstract: a trillion parameters in half the time that was thought to be
// the shortest.
TEST(LamyPoirierReport, MatchesTheGoldenFile) {
  const CommandOutput run = RunCommand(TrillionParameters());
  EXPECT_EQ(run.exit_code, 0) << run.err;
  ExpectGolden("lamy_poirier_2106_02679.txt", run.out);
}

TEST(LamyPoirierReport, FindsAboutHalfTheShortestTime) {
  std::vector<std::string> arguments = TrillionParameters({"--format", "json"});
  arguments[6] = "65536";
  const CommandOutput run = RunCommand(arguments);
  ASSERT_EQ(run.exit_code, 0) << run.err;
  const json answer = json::parse(run.out);
  std::map<std::string, json> claims;
  for (const json& claim : answer["claims"]) claims[claim["name"]] = claim;
  EXPECT_EQ(claims["half_the_time"]["verdict"], "holds");
  std::map<std::string, double> seconds;
  for (const json& strategy : answer["strategies"]) {
    const json& run_of = strategy["runs"][strategy["shortest"].get<size_t>()];
    seconds[strategy["strategy"]] = run_of["seconds"];
  }
  EXPECT_LT(seconds["layered"], seconds["standard"]);
  EXPECT_LT(seconds["standard"], seconds["contiguous"]);
}

TEST(FastestCommand, DrawsEveryStrategyAndTakesACondition) {
  const std::string path = testing::TempDir() + "/fastest-" + std::to_string(getpid()) + ".svg";
  const CommandOutput run = RunCommand(Small({"--fix", "tp=2", "--plot", path}));
  EXPECT_EQ(run.exit_code, 0) << run.err;
  std::ifstream file(path);
  const std::string svg((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  EXPECT_THAT(svg, HasSubstr("contiguous"));
  EXPECT_THAT(svg, HasSubstr("layered"));
  EXPECT_THAT(svg, HasSubstr("tp2."));
  EXPECT_THAT(svg, testing::Not(HasSubstr("tp1.")));
  std::filesystem::remove(path);
}

TEST(FastestCommand, SaysWhatItCantRead) {
  const auto error_of = [](std::vector<std::string> arguments) {
    const CommandOutput run = RunCommand(arguments);
    EXPECT_EQ(run.exit_code, 2);
    return run.err;
  };
  EXPECT_THAT(error_of(Small({"--overlap", "1.5"})), HasSubstr("overlap"));
  std::vector<std::string> tokens = Small();
  tokens[10] = "many";
  EXPECT_THAT(error_of(tokens), HasSubstr("such as 300B"));
  EXPECT_THAT(error_of(Small({"--fix", "tp=5"})), HasSubstr("tp = 5"));
}

TEST(FastestCommand, EndsWithThreeWhereNothingFits) {
  std::vector<std::string> arguments = Small();
  arguments[2] = "llama-3-405b";
  const CommandOutput run = RunCommand(arguments);
  EXPECT_EQ(run.exit_code, 3) << run.err;
  EXPECT_THAT(run.out, HasSubstr("nothing fits"));
  arguments.emplace_back("--exit-zero");
  EXPECT_EQ(RunCommand(arguments).exit_code, 0);
}

}  // namespace
}  // namespace meshwright::cli
