#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

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

std::vector<std::string> Compare(const std::vector<std::string>& layouts,
                                 const std::vector<std::string>& more = {}) {
  std::vector<std::string> arguments = {"compare"};
  arguments.insert(arguments.end(), layouts.begin(), layouts.end());
  arguments.insert(arguments.end(), {"--model", "llama-3-70b", "--cluster", "h100", "--gpus", "64",
                                     "--seq-len", "4096", "--global-batch", "512"});
  arguments.insert(arguments.end(), more.begin(), more.end());
  return arguments;
}

TEST(CompareText, MatchesTheGoldenFile) {
  const CommandOutput run =
      RunCommand(Compare({"tp4.pp4.dp4.mb1.zero1.sp1", "tp8.pp2.dp4.mb1.zero1.sp1",
                          "tp3.pp2.dp8.mb1", "tp2.pp4.dp8.mb2.zero1.sp1"}));
  EXPECT_EQ(run.exit_code, 0) << run.err;
  ExpectGolden("compare_llama3_70b.txt", run.out);
}

// What estimate says of each alone.
TEST(CompareJson, HoldsTheEstimates) {
  const char* layouts[] = {"tp8.pp2.dp4.mb1.zero1.sp1", "tp4.pp4.dp4.mb1.zero1.sp1"};
  const CommandOutput run = RunCommand(Compare({layouts[0], layouts[1]}, {"--format", "json"}));
  ASSERT_EQ(run.exit_code, 0) << run.err;
  const json answer = json::parse(run.out);
  for (size_t i = 0; i < std::size(layouts); ++i) {
    const CommandOutput alone = RunCommand(
        {"estimate", "--model", "llama-3-70b", "--cluster", "h100", "--gpus", "64", "--seq-len",
         "4096", "--global-batch", "512", "--layout", layouts[i], "--format", "json"});
    const json estimate = json::parse(alone.out);
    for (const auto& [key, value] : answer["layouts"][i]["estimate"].items()) {
      EXPECT_EQ(estimate[key], value) << key;
    }
  }
  EXPECT_EQ(answer["layouts"][0]["place"], 2);
  EXPECT_EQ(answer["layouts"][1]["place"], 1);
  EXPECT_EQ(answer["layouts"][0]["because"][0]["part"], "tp");
}

TEST(CompareText, SaysThatNoneFits) {
  const CommandOutput run = RunCommand(Compare({"tp1.pp1.dp64.zero1"}));
  EXPECT_EQ(run.exit_code, 3);
  EXPECT_THAT(run.out, HasSubstr("None of them fits."));
  EXPECT_EQ(RunCommand(Compare({"tp1.pp1.dp64.zero1"}, {"--exit-zero"})).exit_code, 0);
}

TEST(CompareText, SaysThatTheSameLayoutIsAsFast) {
  const CommandOutput run =
      RunCommand(Compare({"tp4.pp4.dp4.mb1.zero1.sp1", "pp4.tp4.dp4.zero1.sp1"}));
  EXPECT_THAT(run.out, HasSubstr(" a step, as fast as the next."));
}

TEST(CompareText, RefusesWhatIsNoLayout) {
  const CommandOutput run = RunCommand(Compare({"tp4.pp4.dp4", "tp4.qq4"}));
  EXPECT_EQ(run.exit_code, 2);
  EXPECT_THAT(run.err, HasSubstr("qq4"));
}

TEST(ComparePlot, DrawsEachLayoutThatCanRunTwice) {
  const std::string path = testing::TempDir() + "/compare-" + std::to_string(getpid()) + ".svg";
  const CommandOutput run = RunCommand(
      Compare({"tp4.pp4.dp4.mb1.zero1.sp1", "tp3.pp2.dp8.mb1", "tp8.pp2.dp4.mb1.zero1.sp1"},
              {"--plot", path}));
  EXPECT_EQ(run.exit_code, 0) << run.err;
  std::ifstream file(path);
  const std::string svg{std::istreambuf_iterator<char>(file), {}};
  const auto times = [&svg](const std::string& text) {
    int count = 0;
    for (size_t at = svg.find(text); at != std::string::npos; at = svg.find(text, at + 1)) ++count;
    return count;
  };
  EXPECT_EQ(times("tp4.cp1.pp4.dp4"), 2);
  EXPECT_EQ(times("tp3.cp1"), 0);
  EXPECT_EQ(times("<title>compute: "), 2);
  EXPECT_EQ(times("<title>bubble: "), 2);
  EXPECT_EQ(times("</svg>"), 1);
  std::filesystem::remove(path);
}

}  // namespace
}  // namespace meshwright::cli
