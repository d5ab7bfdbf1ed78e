#include "executor/command/log_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "base/text/field_error.h"

namespace meshwright::command {
namespace {

using ::testing::HasSubstr;

LogReader ReaderFor(const std::string& format, StepAmounts amounts = {}) {
  absl::StatusOr<LogFormat> found = FindLogFormat("log", format);
  EXPECT_TRUE(found.ok()) << found.status();
  absl::StatusOr<LogReader> reader = LogReader::Make(*found, amounts);
  EXPECT_TRUE(reader.ok()) << reader.status();
  return *std::move(reader);
}

TEST(LogReaderTest, MegatronTellsAStepInOneLineAndMemoryInAnother) {
  const LogReader reader = ReaderFor("megatron");
  const LoggedLine step = reader.Read(
      " [2026-03-01 10:00:00.123456] iteration       12/     100 | consumed samples:          384 "
      "| "
      "elapsed time per iteration (ms): 1234.5 | throughput per GPU (TFLOP/s/GPU): 410.2 | "
      "learning rate: 1.000000E-04 | global batch size:    32 | lm loss: 1.084532E+01 | loss "
      "scale: "
      "1.0 | grad norm: 2.131 | number of skipped iterations:   0 |");
  EXPECT_TRUE(step.is_step);
  EXPECT_EQ(step.step, 12);
  EXPECT_DOUBLE_EQ(step.step_s.value(), 1.2345);
  EXPECT_DOUBLE_EQ(step.loss.value(), 10.84532);
  const LoggedLine memory = reader.Read(
      "[Rank 0] (after 2 iterations) memory (MB) | allocated: 1024.5 | max allocated: 2048.0 | "
      "reserved: 3000.0 | max reserved: 4000.0");
  EXPECT_FALSE(memory.is_step);
  EXPECT_EQ(memory.peak_bytes, int64_t{2048} << 20);
}

TEST(LogReaderTest, TorchtitanTellsTokensPerSecondOfARankInColours) {
  const LogReader reader = ReaderFor("torchtitan", {.tokens = 65536, .sequences = 8, .ranks = 8});
  const LoggedLine step = reader.Read(
      "[titan] 2026-03-01 10:00:00,123 - root - INFO - \x1b[31mstep: 10  \x1b[32mloss:  8.1234  "
      "\x1b[38;2;180;60;0mgrad_norm:  1.2000  \x1b[33mmemory: 40.50GiB(51.2%)  \x1b[34mtps: 4,096  "
      "\x1b[36mtflops: 210.10  \x1b[35mmfu: 21.2%\x1b[39m");
  EXPECT_TRUE(step.is_step);
  EXPECT_EQ(step.step, 10);
  EXPECT_DOUBLE_EQ(step.step_s.value(), 2.0) << "65536 tokens at 8 ranks of 4096 a second";
  EXPECT_DOUBLE_EQ(step.loss.value(), 8.1234);
  EXPECT_EQ(step.peak_bytes, int64_t{81} << 29);
}

TEST(LogReaderTest, DeepspeedTellsSamplesPerSecond) {
  const LogReader reader = ReaderFor("deepspeed", {.tokens = 1, .sequences = 64, .ranks = 8});
  const LoggedLine step = reader.Read(
      "[2026-03-01 10:00:00,123] [INFO] [timer.py:264:stop] epoch=0/micro_step=20/global_step=10, "
      "RunningAvgSamplesPerSec=31.9, CurrSamplesPerSec=32.0, MemAllocated=2.5GB, "
      "MaxMemAllocated=11.0GB");
  EXPECT_EQ(step.step, 10);
  EXPECT_DOUBLE_EQ(step.step_s.value(), 2.0);
  EXPECT_EQ(step.peak_bytes, int64_t{11} << 30);
}

TEST(LogReaderTest, TheTrainersLinesTellLossesAloneAndEachEndsAStep) {
  const LogReader reader = ReaderFor("hf-trainer");
  const LoggedLine old_form =
      reader.Read("{'loss': 2.5, 'grad_norm': 1.0, 'learning_rate': 5e-05}");
  EXPECT_TRUE(old_form.is_step);
  EXPECT_DOUBLE_EQ(old_form.loss.value(), 2.5);
  EXPECT_FALSE(old_form.step_s.has_value());
  EXPECT_DOUBLE_EQ(reader.Read("{'loss': '2.25', 'epoch': '0.1'}").loss.value(), 2.25);
  EXPECT_FALSE(reader.Read("{'eval_loss': 2.5, 'eval_runtime': 3.0}").is_step);
  EXPECT_FALSE(reader.Read("{'train_runtime': 30.1, 'train_loss': 2.1}").is_step);
}

TEST(LogReaderTest, LinesOfJsonAreReadInEveryFormat) {
  for (const char* format : {"json", "megatron", "hf-trainer"}) {
    const LogReader reader = ReaderFor(format);
    const LoggedLine step =
        reader.Read(R"({"step": 3, "step_s": 1.25, "peak_bytes": 1000, "loss": -0.5, "x": [1]})");
    EXPECT_TRUE(step.is_step) << format;
    EXPECT_EQ(step.step, 3);
    EXPECT_DOUBLE_EQ(step.step_s.value(), 1.25);
    EXPECT_EQ(step.peak_bytes, 1000);
    EXPECT_DOUBLE_EQ(step.loss.value(), -0.5);
    const LoggedLine ran = reader.Read(R"({"ran": {"zero": 3, "sp": true, "rc": "full"}})");
    EXPECT_FALSE(ran.is_step);
    EXPECT_THAT(ran.ran,
                ::testing::ElementsAre(::testing::Pair("rc", "full"), ::testing::Pair("sp", "1"),
                                       ::testing::Pair("zero", "3")));
  }
}

TEST(LogReaderTest, AStepWhoseLossIsNoNumberKeepsItsOtherFigures) {
  // What Python's json module writes for losses that overflowed.
  const LogReader reader = ReaderFor("json");
  for (const char* loss : {"NaN", "Infinity", "-Infinity"}) {
    const LoggedLine step =
        reader.Read(absl::StrCat(R"({"step": 3, "loss": )", loss, R"(, "step_s": 1.25})"));
    EXPECT_TRUE(step.is_step) << loss;
    EXPECT_FALSE(step.loss.has_value()) << loss;
    EXPECT_DOUBLE_EQ(step.step_s.value_or(0.0), 1.25) << loss;
  }
  EXPECT_EQ(reader.Read(R"({"ran": {"rc": "NaN"}})").ran.at("rc"), "NaN");
}

TEST(LogReaderTest, ImpossibleFiguresAreNotTold) {
  const LogReader reader = ReaderFor("megatron", {.tokens = 100});
  for (const char* line :
       {R"({"step": 1, "step_s": -1})", R"({"step": 1, "step_s": 1e300})", R"({"step": -1})",
        R"({"step": 1e30, "step_s": 1})", R"({"peak_bytes": -5})",
        R"({"step": "1", "step_s": "2"})", "{", "{]", R"({"step": NaN})",
        "elapsed time per iteration (ms): 0.0", "elapsed time per iteration (ms): 1.2.3",
        "elapsed time per iteration (ms): ...."}) {
    const LoggedLine read = reader.Read(line);
    EXPECT_FALSE(read.is_step) << line;
    EXPECT_FALSE(read.peak_bytes.has_value()) << line;
  }
}

TEST(LogReaderTest, AHostileLineIsReadOnlyUpToABound) {
  const LogReader reader = ReaderFor("megatron");
  const std::string late =
      std::string(kMaxLineBytes, ' ') + "elapsed time per iteration (ms): 1000.0";
  EXPECT_FALSE(reader.Read(late).is_step);
  EXPECT_FALSE(reader.Read(std::string(200'000, '{')).is_step);
  EXPECT_FALSE(reader.Read(std::string("\0\xff\xfe{\"step\"", 10)).is_step);
}

TEST(LogReaderTest, PatternsOfOnesOwnNeedAKnownFigureAndOneGroup) {
  const auto error = [](const std::string& figure, const std::string& regex) {
    const auto reader = LogReader::Make({.patterns = {{figure, regex}}}, {});
    EXPECT_FALSE(reader.ok());
    EXPECT_EQ(FieldOf(reader.status()), "log." + figure);
    return std::string(reader.status().message());
  };
  EXPECT_THAT(error("speed", "(x)"), HasSubstr("must be one of step, step_s, step_ms"));
  EXPECT_THAT(error("step_s", "(["), HasSubstr("must be a regular expression"));
  EXPECT_THAT(error("step_s", "no group"), HasSubstr("must have one capturing group"));
  EXPECT_THAT(error("step_s", "(a)(b)"), HasSubstr("must have one capturing group"));
  const auto reader =
      LogReader::Make({.patterns = {{"tokens_per_s", "rate=([0-9.]+)"}}}, {.tokens = 4096});
  ASSERT_TRUE(reader.ok());
  EXPECT_DOUBLE_EQ(reader->Read("rate=1024.0 tok/s").step_s.value(), 4.0);
}

TEST(LogReaderTest, AnUnknownFormatNamesTheKnownOnes) {
  EXPECT_THAT(FindLogFormat("log", "keras").status().message(),
              HasSubstr("must be json, megatron, megatron-bridge, torchtitan, hf-trainer"));
}

}  // namespace
}  // namespace meshwright::command
