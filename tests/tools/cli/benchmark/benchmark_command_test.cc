// meshwright benchmark with real worker processes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "nlohmann/json.hpp"
#include "tests/tools/command_runner.h"
#include "tests/tools/json_schema.h"

namespace meshwright::cli {
namespace {

using nlohmann::json;
using testing::HasSubstr;

class BenchmarkCommand : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = testing::TempDir() + "/benchmark-" + std::to_string(getpid());
    std::filesystem::create_directories(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  static std::string BinaryDir() {
    const char* dir = std::getenv("MESHWRIGHT_BIN_DIR");
    return dir == nullptr ? "." : dir;
  }

  std::string folder_;
};

TEST_F(BenchmarkCommand, MakesAClusterFileThatThePlannerTakes) {
  const std::string file = folder_ + "/here.json";
  const CommandOutput run = RunCommand(
      {"benchmark", "--devices", "cpu:2", "--budget-s", "0.3", "--out", file, "--format", "json"},
      BinaryDir());
  ASSERT_EQ(run.exit_code, 0) << run.err;
  const json answer = json::parse(run.out);
  EXPECT_EQ(SchemaProblems("benchmark", answer), "");
  EXPECT_EQ(answer["benchmark"]["devices"], 2);
  EXPECT_EQ(answer["benchmark"]["date"].get<std::string>().size(), 10u);
  EXPECT_GT(answer["fit"]["matmuls"]["rows"], 0);
  EXPECT_GT(answer["fit"]["collectives"]["rows"], 0);
  EXPECT_GT(answer["cluster"]["device"]["peak_fp32_flops"], 1e8);
  std::ifstream written(file);
  EXPECT_EQ(json::parse(written), answer["cluster"]);

  const CommandOutput plan =
      RunCommand({"recommend", "--model", "tinystories-15m", "--cluster", file, "--gpus", "2",
                  "--seq-len", "256", "--global-batch", "8", "--framework", "meshwright"});
  EXPECT_EQ(plan.exit_code, 0) << plan.err;
  EXPECT_THAT(plan.out, HasSubstr("fp32"));
}

TEST_F(BenchmarkCommand, PrintsTablesAndTheProfile) {
  const CommandOutput run =
      RunCommand({"benchmark", "--devices", "cpu:1", "--budget-s", "0.1"}, BinaryDir());
  ASSERT_EQ(run.exit_code, 0) << run.err;
  for (const char* part : {"matrix products", "copies in memory", "profile ", "of one core",
                           "measured on ", "from local-cpu: attention, all links"}) {
    EXPECT_THAT(run.out, HasSubstr(part));
  }
  EXPECT_THAT(run.out, testing::Not(HasSubstr("collectives by")));
}

TEST_F(BenchmarkCommand, AMissingWorkerIsAFailure) {
  const CommandOutput run = RunCommand({"benchmark", "--devices", "cpu:1"});
  EXPECT_EQ(run.exit_code, 1);
  EXPECT_THAT(run.err, HasSubstr("can't be started"));
}

TEST_F(BenchmarkCommand, AnInterruptExitsWith130) {
  const std::atomic<bool> interrupted{true};
  const CommandOutput run =
      RunCommand({"benchmark", "--devices", "cpu:2"}, BinaryDir(), interrupted);
  EXPECT_EQ(run.exit_code, 130);
}

TEST_F(BenchmarkCommand, RefusesWhatItCantUse) {
  CommandOutput run = RunCommand({"benchmark", "--devices", "cpu:0"});
  EXPECT_EQ(run.exit_code, 2);
  EXPECT_THAT(run.err, HasSubstr("--devices cpu:0"));
  run = RunCommand({"benchmark", "--devices", "cpu:1", "--budget-s", "0"});
  EXPECT_EQ(run.exit_code, 2);
  EXPECT_THAT(run.err, HasSubstr("--budget-s 0: must be above 0"));
  // A cluster of GPUs says nothing about processors.
  run = RunCommand({"benchmark", "--devices", "cpu:1", "--budget-s", "0.05", "--base", "h100"},
                   BinaryDir());
  EXPECT_EQ(run.exit_code, 2);
  EXPECT_THAT(run.err, HasSubstr("no cluster is known"));
}

}  // namespace
}  // namespace meshwright::cli
