#include "executor/trial/device_list.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/system/run_program.h"

namespace meshwright::trial {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST(DeviceListTest, AsksTheWorker) {
  const DeviceList list = {.devices = {{.index = 0,
                                        .name = "NVIDIA H100 80GB HBM3 MIG 1g.10gb",
                                        .memory_bytes = 10'200'547'328,
                                        .compute_capability = "9.0"}},
                           .reason = ""};
  std::vector<std::string> asked;
  const auto answer =
      ListDevices("/bin/worker", [&](const std::vector<std::string>& arguments, double timeout_s) {
        asked = arguments;
        EXPECT_GT(timeout_s, 0.0);
        return ToJson(list).dump();
      });
  EXPECT_THAT(asked, ElementsAre("/bin/worker", "--devices"));
  ASSERT_TRUE(answer.ok()) << answer.status();
  EXPECT_EQ(*answer, list);
  EXPECT_EQ(answer->count(), 1);
}

TEST(DeviceListTest, AMachineWithoutADeviceSaysWhy) {
  const auto answer = ListDevices("worker", [](const std::vector<std::string>&, double) {
    return R"({"devices": [], "reason": "no CUDA-capable device is detected"})";
  });
  ASSERT_TRUE(answer.ok()) << answer.status();
  EXPECT_EQ(answer->count(), 0);
  EXPECT_EQ(answer->reason, "no CUDA-capable device is detected");
}

TEST(DeviceListTest, AMissingWorkerIsAnErrorThatNamesIt) {
  const auto answer = ListDevicesHere("/nowhere/meshwright-worker");
  EXPECT_TRUE(absl::IsUnavailable(answer.status())) << answer.status();
  EXPECT_THAT(std::string(answer.status().message()),
              HasSubstr("/nowhere/meshwright-worker can't be started"));
}

TEST(DeviceListTest, AnAnswerThatIsNoneIsAnError) {
  for (const char* text : {"", "nothing", R"({"devices": [{}]})", "[]"}) {
    const auto answer =
        ListDevices("worker", [&](const std::vector<std::string>&, double) { return text; });
    EXPECT_TRUE(absl::IsInvalidArgument(answer.status())) << text;
  }
}

TEST(RunProgramTest, GivesTheOutputOfAProgramThatEndsWell) {
  EXPECT_EQ(RunProgram({"/bin/echo", "two words"}, 60.0).value(), "two words\n");
}

TEST(RunProgramTest, LooksAProgramUpInThePath) {
  EXPECT_EQ(RunProgram({"echo", "here"}, 60.0).value(), "here\n");
  EXPECT_TRUE(absl::IsUnavailable(RunProgram({"no-such-program-1"}, 60.0).status()));
}

TEST(RunProgramTest, AProgramReadsWhatItIsGiven) {
  const std::string text(300'000, 'x');  // more than a pipe holds
  EXPECT_EQ(RunProgramOn(text, {"cat"}, 60.0).value(), text);
  EXPECT_EQ(RunProgram({"cat"}, 60.0).value(), "");
}

TEST(RunProgramTest, AFailureHasItsExitCode) {
  const auto output = RunProgram({"/bin/sh", "-c", "exit 3"}, 60.0);
  EXPECT_TRUE(absl::IsInternal(output.status()));
  EXPECT_THAT(std::string(output.status().message()), HasSubstr("exit code 3"));
}

TEST(RunProgramTest, AFailureHasTheEndOfWhatTheProgramSaid) {
  const auto output = RunProgram({"/bin/sh", "-c", "echo no LibTorch here >&2; exit 2"}, 60.0);
  EXPECT_THAT(std::string(output.status().message()), HasSubstr("exit code 2: no LibTorch here"));
}

TEST(RunProgramTest, AnEndlessOutputIsCut) {
  const auto output = RunProgram({"/bin/sh", "-c", "head -c 3000000 /dev/zero"}, 60.0);
  EXPECT_EQ(output.value().size(), 1u << 20);
}

TEST(RunProgramTest, OneThatDoesNotEndIsKilled) {
  const auto output = RunProgram({"/bin/sleep", "600"}, 0.1);
  EXPECT_TRUE(absl::IsDeadlineExceeded(output.status())) << output.status();
}

}  // namespace
}  // namespace meshwright::trial
