#include "tools/cli/trial/trial_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>
#include <string>

namespace meshwright::cli {
namespace {

using testing::HasSubstr;
using testing::Not;

// Of an H100 that reaches two thirds of its data sheet's peak.
trial::TrialResult SomeResult() {
  trial::TrialResult result;
  result.outcome = trial::TrialOutcome::kOk;
  result.step_s = 0.5;
  result.peak_flops = 900e12;
  result.measured_peak_flops = 600e12;
  result.mfu = 0.6;
  result.mfu_causal = 0.54;
  result.mfu_of_peak = 0.4;
  result.mfu_causal_of_peak = 0.36;
  result.step_times_s = {0.5};
  result.ranks = {{.rank = 0,
                   .peak_bytes = 70'000'000'000,
                   .estimated_bytes = 69'000'000'000,
                   .device_memory = trial::DeviceMemoryUse{.peak_reserved_bytes = 72'000'000'000,
                                                           .allocator_retries = 3,
                                                           .communicator_bytes = 1'000'000'000},
                   .estimated_communicator_bytes = 1'100'000'000}};
  return result;
}

std::string TextOf(const trial::TrialResult& result) {
  planner::Estimate predicted;
  predicted.mfu = 0.5;
  predicted.mfu_causal = 0.45;
  std::ostringstream out;
  PrintTrial({}, predicted, "h100", result, out);
  return out.str();
}

// Of two runs the one with the shorter step has the higher MFU, whatever large products reached
// before it.
TEST(TrialText, MfuIsAgainstThePeakOfTheClusterAlone) {
  const std::string text = TextOf(SomeResult());
  EXPECT_THAT(text, HasSubstr("MFU (PaLM)      40.0 %     50.0 %"));
  EXPECT_THAT(text, HasSubstr("MFU (causal)    36.0 %     45.0 %"));
  EXPECT_THAT(text, HasSubstr("share of 900.0 TFLOP/s a rank, the stated peak of h100"));
  EXPECT_THAT(text, HasSubstr("reached 600.0 TFLOP/s a rank before the steps, 66.7 % of that"));
  EXPECT_THAT(text, Not(HasSubstr("60.0 %")));
  EXPECT_THAT(text, Not(HasSubstr("above 100 %")));
}

TEST(TrialText, AnMfuAbove100PercentSaysWhy) {
  trial::TrialResult result = SomeResult();
  result.mfu_of_peak = 1.25;
  result.mfu_causal_of_peak = 0.8;
  EXPECT_THAT(TextOf(result),
              HasSubstr("above 100 %: PaLM's definition counts the input embedding"));
  result.mfu_causal_of_peak = 1.1;
  EXPECT_THAT(TextOf(result), HasSubstr("above 100 %: the step beat the stated peak of 900.0"));
}

TEST(TrialText, APredictionWhosePeakIsNotToldIsNotComparedWith) {
  trial::TrialResult result = SomeResult();
  result.peak_flops.reset();
  EXPECT_THAT(TextOf(result), HasSubstr("share of the 600.0 TFLOP/s that each rank reached"));
  EXPECT_THAT(TextOf(result), Not(HasSubstr("50.0 %")));
}

TEST(TrialText, DevicesTellWhatTheirAllocatorReservedAndWhatLiesOutside) {
  const std::string text = TextOf(SomeResult());
  EXPECT_THAT(text, HasSubstr("peak bytes reserved  allocator retries  communicators measured"));
  EXPECT_THAT(text, HasSubstr("72,000,000,000                  3           1,000,000,000"));
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) EXPECT_LE(line.size(), 100u) << line;
  trial::TrialResult on_a_cpu = SomeResult();
  on_a_cpu.ranks[0].device_memory.reset();
  EXPECT_THAT(TextOf(on_a_cpu), Not(HasSubstr("reserved")));
}

TEST(TrialText, ARankOfACommandThatRanAloneSaysWhatIsModelled) {
  trial::TrialResult result = SomeResult();
  result.command = "python3 train.py --alone";
  trial::SliceResult slice;
  slice.cluster = "h100";
  slice.stages.emplace_back();
  slice.stages.front().pipeline_ranks = {3};
  slice.stages.front().peak_bytes = 70'000;
  slice.stages.front().estimated_bytes = 69'000;
  slice.step[planner::TimePart::kCompute] = 0.375;
  slice.step[planner::TimePart::kBubble] = 0.125;
  result.slice = slice;
  const std::string text = TextOf(result);
  EXPECT_THAT(text, HasSubstr("rank alone  0.375000   75.0 %  measured\n"));
  EXPECT_THAT(text,
              HasSubstr("bubble      0.125000   25.0 %  modelled, in proportion to the rank's"));
  EXPECT_THAT(text, HasSubstr("peak of the rank: 70,000 bytes measured, 69,000 estimated"));
  EXPECT_THAT(text, HasSubstr("command: python3 train.py --alone"));
  EXPECT_THAT(text, Not(HasSubstr("optimizer")));
}

}  // namespace
}  // namespace meshwright::cli
