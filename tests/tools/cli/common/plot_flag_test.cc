#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "tests/tools/command_runner.h"

namespace meshwright::cli {
namespace {

using testing::AllOf;
using testing::HasSubstr;

struct Drawn {
  const char* name;
  std::vector<std::string> words;
  const char* question;  // a part of it
};

class PictureTest : public testing::TestWithParam<Drawn> {};

TEST_P(PictureTest, SaysWhatItShowsWhenItWasDrawnAndHow) {
  const Drawn& drawn = GetParam();
  const std::string path =
      testing::TempDir() + "/" + drawn.name + std::to_string(getpid()) + ".svg";
  std::vector<std::string> words = drawn.words;
  words.insert(words.end(), {drawn.words.front() == "schedule" ? "-o" : "--plot", path});
  const CommandOutput run = RunCommand(words);
  ASSERT_EQ(run.exit_code, 0) << run.err;
  std::ifstream file(path);
  const std::string svg{std::istreambuf_iterator<char>(file), {}};
  std::filesystem::remove(path);
  EXPECT_THAT(svg, AllOf(HasSubstr(">Meshwright, 2026-01-02: "), HasSubstr(drawn.question),
                         HasSubstr("<dc:date>2026-01-02</dc:date>"),
                         HasSubstr("<dc:source>meshwright " + drawn.words.front() + " "),
                         HasSubstr(path + "</dc:source>")));
}

std::vector<std::string> Asked(const std::string& command, std::vector<std::string> more) {
  std::vector<std::string> words = {command,     "--model", "llama-3-8b", "--cluster", "h100",
                                    "--seq-len", "8192",    "--fix",      "pp=1"};
  if (command == "compare" || command == "schedule") words.resize(words.size() - 2);
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

INSTANTIATE_TEST_SUITE_P(
    Commands, PictureTest,
    testing::Values(
        Drawn{"Compare",
              Asked("compare", {"--gpus", "8", "--global-batch", "16", "tp2.pp1.dp4.mb1.zero1",
                                "tp1.pp1.dp8.mb1.zero3"}),
              "<dc:subject>llama-3-8b on 8 x h100, sequence 8,192, global batch 16, bf16"},
        Drawn{"Scale", Asked("scale", {"--gpus", "8..16", "--global-batch", "16"}),
              "llama-3-8b on 8 to 16 x h100, sequence 8,192, global batch 16 (a batch that grows"},
        Drawn{"Study", Asked("study", {"--gpus", "8", "--global-batch", "16"}),
              "llama-3-8b on 8 x h100"},
        Drawn{"Fastest",
              Asked("fastest", {"--gpus", "8..16", "--critical-batch", "64", "--tokens", "1T"}),
              "llama-3-8b on 8 to 16 x h100, sequence 8,192, any batch"},
        Drawn{"Fit", Asked("fit", {"--gpus", "8", "--global-batch", "16"}),
              "llama-3-8b on 8 x h100"},
        Drawn{"Schedule",
              Asked("schedule", {"--global-batch", "16", "--layout", "tp1.pp4.dp2.mb1.zero1"}),
              "llama-3-8b on 8 x h100"},
        Drawn{"ScheduleByHand",
              {"schedule", "--layout", "pp4.mb1", "--micro-batches", "8", "--forward-ms", "1",
               "--backward-ms", "2"},
              "a pipeline whose times were given"}),
    [](const testing::TestParamInfo<Drawn>& drawn) { return drawn.param.name; });

}  // namespace
}  // namespace meshwright::cli
