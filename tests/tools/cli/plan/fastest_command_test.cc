#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "tests/tools/command_runner.h"

namespace meshwright::cli {
namespace {

using testing::HasSubstr;

std::vector<std::string> Small(std::vector<std::string> more = {}) {
  std::vector<std::string> arguments = {
      "fastest",   "--model", "llama-2-7b", "--cluster", "a100-80",          "--gpus", "8..32",
      "--seq-len", "4096",    "--tokens",   "1T",        "--critical-batch", "32"};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return arguments;
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
  const auto error_of = [](const std::vector<std::string>& arguments) {
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
  std::vector<std::string> arguments = Small({"--fix", "tp=8"});
  arguments[2] = "llama-3-405b";
  const CommandOutput run = RunCommand(arguments);
  EXPECT_EQ(run.exit_code, 3) << run.err;
  EXPECT_THAT(run.out, HasSubstr("nothing fits"));
  arguments.emplace_back("--exit-zero");
  EXPECT_EQ(RunCommand(arguments).exit_code, 0);
}

}  // namespace
}  // namespace meshwright::cli
