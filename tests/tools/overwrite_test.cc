// No command writes over what it reads or writes, whichever of its flags name the file.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "tests/tools/command_runner.h"

namespace meshwright::cli {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

// FILE and SAME stand for two paths of one file, NEW for the path of one that isn't there yet.
struct Collision {
  const char* name;
  std::vector<std::string> arguments;
};

class Overwrite : public testing::TestWithParam<Collision> {};

TEST_P(Overwrite, IsRefusedAndTheFileKept) {
  const fs::path folder = fs::path(testing::TempDir()) / "overwrite_test";
  fs::create_directories(folder);
  const std::string file = folder / "file.json";
  std::ofstream(file) << "{}";
  std::vector<std::string> arguments = GetParam().arguments;
  for (std::string& argument : arguments) {
    if (argument == "FILE") argument = file;
    if (argument == "SAME") argument = folder / "." / "file.json";
    if (argument == "NEW") argument = folder / "new.svg";
  }
  const CommandOutput run = RunCommand(arguments);
  EXPECT_EQ(run.exit_code, 2) << run.out;
  EXPECT_THAT(run.err, HasSubstr("is the file of ")) << run.out;
  std::ostringstream text;
  text << std::ifstream(file).rdbuf();
  EXPECT_EQ(text.str(), "{}");
  EXPECT_FALSE(fs::exists(folder / "new.svg"));
  fs::remove_all(folder);
}

INSTANTIATE_TEST_SUITE_P(
    Commands, Overwrite,
    testing::Values(
        Collision{"CalibrateMeasurements",
                  {"calibrate", "--measurements", "FILE", "--cluster", "h100", "--framework",
                   "megatron", "-o", "SAME"}},
        Collision{"CalibrateOutputs",
                  {"calibrate", "--measurements", "x.csv", "--cluster", "h100", "--framework",
                   "megatron", "-o", "NEW", "--framework-output", "NEW"}},
        Collision{"CalibrateFrameworkOutput",
                  {"calibrate", "--measurements", "FILE", "--cluster", "h100", "--framework",
                   "megatron", "-o", "NEW", "--framework-output", "SAME"}},
        Collision{"ValidateRows", {"validate", "--measurements", "FILE", "--rows", "SAME"}},
        Collision{"ValidatePlot",
                  {"validate", "--measurements", "x.csv", "--rows", "NEW", "--plot", "NEW"}},
        Collision{"ScheduleModel",
                  {"schedule", "--layout", "tp1.pp2.dp1", "--model", "FILE", "--cluster", "h100",
                   "--seq-len", "4096", "--global-batch", "8", "-o", "SAME"}},
        Collision{"TrialTrace",
                  {"trial", "--layout", "tp1.pp2.dp1", "--model", "FILE", "--devices", "cpu:2",
                   "--seq-len", "64", "--global-batch", "4", "--trace", "SAME"}},
        Collision{"BenchmarkBase",
                  {"benchmark", "--devices", "cpu:2", "--base", "FILE", "--out", "SAME"}}),
    [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace meshwright::cli
