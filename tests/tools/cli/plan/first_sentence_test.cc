// Answers begin with one sentence, and their lines have at most 80 columns.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/str_split.h"
#include "tests/tools/command_runner.h"

namespace meshwright::cli {
namespace {

using testing::MatchesRegex;

struct Answered {
  const char* name;
  const char* words;
  const char* begins;  // a regular expression for the first line
};

class FirstSentence : public testing::TestWithParam<Answered> {};

TEST_P(FirstSentence, IsTheAnswer) {
  const std::vector<std::string> words = absl::StrSplit(GetParam().words, ' ');
  const CommandOutput run = RunCommand(words);
  ASSERT_EQ(run.exit_code, 0) << run.err;
  const std::vector<std::string> lines = absl::StrSplit(run.out, '\n');
  EXPECT_THAT(lines.front(), MatchesRegex(GetParam().begins));
  for (const std::string& line : lines) EXPECT_LE(line.size(), 80u) << line;
}

// The same words with --details say what the short answer leaves out.
TEST_P(FirstSentence, BeginsTheDetailsToo) {
  std::vector<std::string> words = absl::StrSplit(GetParam().words, ' ');
  words.emplace_back("--details");
  const CommandOutput run = RunCommand(words);
  ASSERT_EQ(run.exit_code, 0) << run.err;
  EXPECT_THAT(run.out.substr(0, run.out.find('\n')), MatchesRegex(GetParam().begins));
}

INSTANTIATE_TEST_SUITE_P(
    Of, FirstSentence,
    testing::Values(
        Answered{"compare",
                 "compare tp2.dp4.zero1.sp1 dp8.zero2.rc=full tp3.dp2 --model llama-3-8b --cluster "
                 "h100 --gpus 8 --seq-len 4k --global-batch 64",
                 "[^ ]+ wins with [0-9.]+ s a step: the next, .*"},
        Answered{"scale",
                 "scale --model llama-3-8b --cluster h100 --gpus 8..32 --seq-len 4k --global-batch "
                 "64 --strong",
                 "8 to 32 x h100 train llama-3-8b at [0-9,]+ to [0-9,]+ tokens/s: 4 times the.*"},
        Answered{"scale_to_a_deadline",
                 "scale --model llama-3-8b --cluster h100 --gpus 8..32 --seq-len 4k --global-batch "
                 "64 --tokens 100B --within 30d",
                 "[0-9]+ x h100 are the fewest that finish within 30.0 days: .*"},
        Answered{"fastest",
                 "fastest --model llama-2-7b --cluster a100-80 --gpus 8..32 --seq-len 4096 "
                 "--tokens 1T --critical-batch 32 --fix tp=2",
                 "llama-2-7b trains in [0-9.]+ [a-z]+ at the shortest, on [0-9]+ x a100-80 .*"},
        Answered{"study",
                 "study --model llama-3-8b --cluster h100 --gpus 8 --seq-len 4k --global-batch 16",
                 "[0-9] of 6 recommendations hold, .*"},
        Answered{"fit",
                 "fit --model llama-3-8b --cluster h100 --gpus 8 --seq-len 4k --global-batch 16 "
                 "--layout tp2.dp4.zero1.sp1",
                 "Up to micro-batches of [0-9]+ sequences?, sequences of [0-9,]+ tokens or .*"}),
    [](const auto& test) { return std::string(test.param.name); });

}  // namespace
}  // namespace meshwright::cli
