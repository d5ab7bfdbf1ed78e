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

std::vector<std::string> Fit(std::vector<std::string> more = {}) {
  std::vector<std::string> arguments = {"fit",  "--model",        "llama-3-70b", "--cluster",
                                        "h100", "--gpus",         "64",          "--seq-len",
                                        "4096", "--global-batch", "128"};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return arguments;
}

TEST(FitText, MatchesTheGoldenFile) {
  const CommandOutput run = RunCommand(Fit());
  EXPECT_EQ(run.exit_code, 0) << run.err;
  ExpectGolden("fit_llama3_70b.txt", run.out);
}

// A limit is the last with which recommend finds something, which is then what fit names.
TEST(FitJson, AgreesWithRecommend) {
  const CommandOutput run = RunCommand(Fit({"--format", "json"}));
  ASSERT_EQ(run.exit_code, 0) << run.err;
  const json limits = json::parse(run.out)["limits"];
  const json& sequence = limits[1];
  ASSERT_EQ(sequence["kind"], "seq_len");
  std::vector<std::string> at = Fit({"--format", "json", "--top", "1"});
  at[0] = "recommend";
  at[8] = std::to_string(sequence["largest"].get<int64_t>());
  EXPECT_EQ(json::parse(RunCommand(at).out)["layouts"][0], sequence["estimate"]);
  at[8] = std::to_string(sequence["next"].get<int64_t>());
  const CommandOutput next = RunCommand(at);
  EXPECT_EQ(next.exit_code, 3);
  EXPECT_EQ(json::parse(next.out)["nearest"]["over_bytes"], sequence["over_bytes"]);
}

TEST(FitCommand, IsAboutOneLayoutWhereThatIsAsked) {
  const CommandOutput run = RunCommand(Fit({"--layout", "tp8.pp2.dp4.mb1.zero1.sp1"}));
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_THAT(run.out, HasSubstr("tp8.pp2.dp4.zero1.sp1"));
  const CommandOutput bad = RunCommand(Fit({"--layout", "tp8.pp2.dp3"}));
  EXPECT_EQ(bad.exit_code, 3);
  EXPECT_THAT(bad.out, HasSubstr("can't run"));
  EXPECT_EQ(RunCommand(Fit({"--layout", "tp8 pp2"})).exit_code, 2);
}

TEST(FitCommand, Draws) {
  const std::string path = testing::TempDir() + "/fit-" + std::to_string(getpid()) + ".svg";
  const CommandOutput run = RunCommand(Fit({"--fix", "tp=8", "--plot", path}));
  EXPECT_EQ(run.exit_code, 0) << run.err;
  std::ifstream file(path);
  const std::string svg((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  EXPECT_THAT(svg, HasSubstr("does not fit"));
  std::filesystem::remove(path);
}

}  // namespace
}  // namespace meshwright::cli
