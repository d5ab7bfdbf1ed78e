// meshwright trial of what no machine has the memory for. There is no worker, so that nothing is
// allocated where a test fails.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "nlohmann/json.hpp"
#include "tests/tools/command_runner.h"

namespace meshwright::cli {
namespace {

using testing::HasSubstr;

std::vector<std::string> HugeTrial(std::vector<std::string> more = {}) {
  std::vector<std::string> arguments = {"trial",     "--model",         "llama-3-405b",
                                        "--layout",  "tp1.pp1.dp8.mb1", "--seq-len",
                                        "4096",      "--global-batch",  "8",
                                        "--devices", "cpu:8",           "--format",
                                        "json"};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return arguments;
}

TEST(TrialMemory, ATrialThatTheHostHasNoMemoryForIsRefused) {
  const CommandOutput run = RunCommand(HugeTrial());
  EXPECT_EQ(run.exit_code, 1) << run.err;
  const auto result = nlohmann::json::parse(run.out);
  EXPECT_EQ(result["outcome"], "failed");
  EXPECT_THAT(result["message"], HasSubstr("8 ranks at once would take"));
  EXPECT_THAT(result["message"], HasSubstr("are available ("));
  EXPECT_THAT(result["message"], HasSubstr("what would be accepted: fewer ranks, a smaller mb"));
}

TEST(TrialMemory, ALimitThatTheHostHasMemoryForIsTaken) {
  const CommandOutput run = RunCommand(HugeTrial({"--memory-limit-gib", "0.001"}));
  const std::string message = nlohmann::json::parse(run.out)["message"];
  // The ranks' own start may still be too much for a small host.
  if (message.find("8 ranks at once") == std::string::npos) {
    EXPECT_THAT(message, HasSubstr("can't be started"));
  }
}

TEST(TrialMemory, ADeviceThatIsTooSmallIsNamed) {
  trial::ListedDevice small;
  small.memory_bytes = int64_t{8} << 30;
  const trial::DeviceList devices = {.devices = {small}, .reason = ""};
  const CommandOutput run =
      RunCommand({"trial", "--model", "llama-3-8b", "--layout", "tp1.pp1.dp1.mb1", "--seq-len",
                  "4096", "--global-batch", "4", "--devices", "cuda"},
                 "/nonexistent", kNeverInterrupted, devices);
  EXPECT_EQ(run.exit_code, 1);
  EXPECT_THAT(run.out, HasSubstr("of CUDA device 0, which has 8589934592 bytes (8.00 GiB)"));
}

}  // namespace
}  // namespace meshwright::cli
