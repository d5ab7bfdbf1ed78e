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
using testing::Not;

std::vector<std::string> Sizes(const char* command, const char* gpus,
                               std::vector<std::string> more = {}) {
  std::vector<std::string> arguments = {command, "--model",        "llama-3-70b", "--cluster",
                                        "h100",  "--gpus",         gpus,          "--seq-len",
                                        "4096",  "--global-batch", "1024"};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return arguments;
}

TEST(ScaleText, MatchesTheGoldenFile) {
  const CommandOutput run = RunCommand({"scale", "--model", "llama-2-7b", "--cluster", "h100",
                                        "--framework", "llm-foundry-fsdp", "--gpus", "8..2048",
                                        "--seq-len", "4096", "--global-batch", "16"});
  EXPECT_EQ(run.exit_code, 0) << run.err;
  ExpectGolden("scale_llama2_7b.txt", run.out);
}

TEST(RecommendSizes, MatchTheGoldenFile) {
  const CommandOutput run = RunCommand(
      Sizes("recommend", "8..1024", {"--tokens", "1T", "--within", "30d", "--price", "2.5/h"}));
  EXPECT_EQ(run.exit_code, 0) << run.err;
  ExpectGolden("recommend_sizes.txt", run.out);
}

// Each point is the first of that size's own search.
TEST(ScaleJson, HoldsTheFirstOfEachSize) {
  const CommandOutput run = RunCommand(Sizes("scale", "32..128", {"--strong", "--format", "json"}));
  ASSERT_EQ(run.exit_code, 0) << run.err;
  const json points = json::parse(run.out)["points"];
  ASSERT_EQ(points.size(), 3u);
  for (const json& point : points) {
    const std::string gpus = std::to_string(point["gpus"].get<int>());
    const CommandOutput alone =
        RunCommand(Sizes("recommend", gpus.c_str(), {"--top", "1", "--format", "json"}));
    EXPECT_EQ(point["estimate"], json::parse(alone.out)["layouts"][0]);
  }
  const double first = points[0]["estimate"]["tokens_per_s"];
  const double second = points[1]["estimate"]["tokens_per_s"];
  EXPECT_TRUE(points[0]["marginal_return"].is_null());
  EXPECT_NEAR(points[1]["marginal_return"].get<double>(), second / first - 1.0, 1e-12);
}

TEST(ScaleJson, GrowsTheBatchUnlessToldOtherwise) {
  const auto batches = [](const char* mode) {
    const json answer =
        json::parse(RunCommand(Sizes("scale", "64..256", {mode, "--format", "json"})).out);
    return std::pair(answer["points"][0]["global_batch"].get<int>(),
                     answer["points"][2]["global_batch"].get<int>());
  };
  EXPECT_EQ(batches("--weak"), std::pair(1024, 4096));
  EXPECT_EQ(batches("--strong"), std::pair(1024, 1024));
}

TEST(ScaleText, SaysWhereNothingFits) {
  const CommandOutput run = RunCommand(Sizes("scale", "8..16", {"--strong"}));
  EXPECT_EQ(run.exit_code, 3);
  EXPECT_THAT(run.out, HasSubstr("8 GPUs: nothing fits: "));
  EXPECT_THAT(run.out, HasSubstr("No size fits."));
}

TEST(RecommendSizes, NeedTokensForATimeOrAPrice) {
  const CommandOutput run = RunCommand(Sizes("recommend", "8..64", {"--within", "3d"}));
  EXPECT_EQ(run.exit_code, 2);
  EXPECT_THAT(run.err, HasSubstr("needs --tokens"));
}

TEST(RecommendSizes, HaveNoPlaceForMyLayout) {
  const CommandOutput run = RunCommand(Sizes("recommend", "8..64", {"--mine", "tp8.pp4.dp2"}));
  EXPECT_EQ(run.exit_code, 2);
  EXPECT_THAT(run.err, HasSubstr("--mine"));
}

TEST(RecommendSizes, AreANumberOrTwo) {
  for (const char* sizes : {"0..8", "64..8", "8..", "..8", "8-64", "8..64..128"}) {
    const CommandOutput run = RunCommand(Sizes("recommend", sizes));
    EXPECT_EQ(run.exit_code, 2) << sizes;
    EXPECT_THAT(run.err, HasSubstr("such as 8..1024"));
  }
}

// A cluster of one's own need not say what its devices draw.
TEST(ScaleText, LeavesOutPowerThatNobodySaid) {
  const CommandOutput run =
      RunCommand({"scale", "--model", "tinystories-15m", "--cluster", "local-cpu", "--framework",
                  "meshwright", "--gpus", "1..2", "--seq-len", "256", "--global-batch", "8"});
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_THAT(run.out, Not(HasSubstr("tokens/J")));
}

TEST(ScalePlot, DrawsThreeQuantities) {
  const std::string path = testing::TempDir() + "/scale-" + std::to_string(getpid()) + ".svg";
  const CommandOutput run = RunCommand(Sizes("scale", "64..256", {"--plot", path}));
  EXPECT_EQ(run.exit_code, 0) << run.err;
  std::ifstream file(path);
  const std::string svg{std::istreambuf_iterator<char>(file), {}};
  EXPECT_THAT(svg, AllOf(HasSubstr("Energy, tokens per joule"), HasSubstr("Power, W per device"),
                         HasSubstr("devices (log)")));
  EXPECT_THAT(svg, HasSubstr("256 devices: "));
  EXPECT_THAT(svg, testing::EndsWith("</svg>\n"));
  std::filesystem::remove(path);
}

}  // namespace
}  // namespace meshwright::cli
