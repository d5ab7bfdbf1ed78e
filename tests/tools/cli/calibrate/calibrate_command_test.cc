#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "nlohmann/json.hpp"
#include "planner/catalog/catalog.h"
#include "tests/tools/command_runner.h"

namespace meshwright::cli {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using testing::HasSubstr;

// Invented runs of an invented cluster; the last four are no use to a fit.
constexpr char kCalibratedRuns[] =
    "sweep,model,layers,hidden,ffn,heads,kv_heads,vocab,seq,gpu,gpus,tp,pp,dp,mbs,gbs,framework,"
    "outcome,step_time_s\n"
    "small,llama-x,16,2048,5632,16,16,32000,2048,toy,8,1,1,8,1,64,toy-engine,ok,2.1\n"
    "small,llama-x,16,2048,5632,16,16,32000,2048,toy,8,2,1,4,1,64,toy-engine,ok,2.3\n"
    "small,llama-x,16,2048,5632,16,16,32000,2048,toy,8,1,2,4,1,64,toy-engine,ok,2.4\n"
    "large,llama-y,24,2048,5632,16,16,32000,2048,toy,8,2,1,4,1,64,toy-engine,ok,3.3\n"
    "large,llama-y,24,2048,5632,16,16,32000,2048,toy,8,1,2,4,1,64,toy-engine,ok,3.5\n"
    "large,llama-y,24,2048,5632,16,16,32000,2048,toy,8,8,1,1,1,64,toy-engine,oom,\n"
    "large,llama-y,24,2048,5632,16,16,32000,2048,toy,8,1,5,1,1,64,toy-engine,ok,9.0\n"
    "large,llama-y,24,2048,5632,16,16,32000,2048,other,8,1,1,8,1,64,toy-engine,ok,9.0\n"
    "large,llama-y,24,2048,5632,16,16,32000,2048,toy,8,1,1,8,1,64,nanotron,ok,9.0\n";

constexpr char kCluster[] = R"({"name": "toy", "gpu_names": ["toy"], "devices_per_node": 8,
  "device": {"name": "toy", "peak_bf16_flops": 1e14, "peak_fp32_flops": 1e13,
             "memory_bytes": 51539607552, "memory_bytes_per_s": 1e12, "matmul_efficiency": 0.5,
             "compute_units": 1, "tile_m": 1, "tile_n": 1},
  "scale_up": {"bytes_per_s": 1e11}, "scale_out": {"bytes_per_s": 1e10}})";

constexpr char kFramework[] = R"({"name": "toy-engine", "vocab_multiple": 1,
  "sources": {"loss_traffic_bytes": "counted", "vocab_multiple": "its code"}})";

class CalibrateCommandTest : public testing::Test {
 protected:
  void SetUp() override {
    fs::create_directories(folder_);
    runs_ = Write("runs.csv", kCalibratedRuns);
    cluster_ = Write("toy.json", kCluster);
    framework_ = Write("engine.json", kFramework);
  }
  void TearDown() override { fs::remove_all(folder_); }

  std::string Write(const std::string& name, const std::string& text) const {
    std::string path = folder_ / name;
    std::ofstream(path) << text;
    return path;
  }
  static std::string Read(const std::string& path) {
    std::ostringstream text;
    text << std::ifstream(path).rdbuf();
    return text.str();
  }
  CommandOutput Run(std::vector<std::string> more) const {
    std::vector<std::string> arguments = {
        "calibrate",      "--measurements", runs_, "--cluster",     cluster_,
        "--framework",    framework_,       "-o",  fitted_cluster_, "--framework-output",
        fitted_framework_};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return RunCommand(arguments);
  }
  planner::ClusterSpec FittedCluster() const {
    return planner::ClusterFromJson(Read(fitted_cluster_), 2).value();
  }
  planner::FrameworkProfile FittedFramework() const {
    return planner::ProfileFromJson(Read(fitted_framework_)).value();
  }

  const fs::path folder_ = fs::path(testing::TempDir()) / "calibrate_command_test";
  const std::string fitted_cluster_ = folder_ / "fitted_cluster.json";
  const std::string fitted_framework_ = folder_ / "fitted_framework.json";
  std::string runs_;
  std::string cluster_;
  std::string framework_;
};

TEST_F(CalibrateCommandTest, WritesProfilesThatSayHowTheyWereMade) {
  const CommandOutput run = Run({});
  ASSERT_EQ(run.exit_code, 0) << run.err;
  const planner::ClusterSpec cluster = FittedCluster();
  const planner::FrameworkProfile framework = FittedFramework();
  // File names without the folders they lie in.
  const char* command =
      "meshwright calibrate --measurements runs.csv --cluster toy --framework toy-engine";
  EXPECT_EQ(cluster.calibration.command, command);
  EXPECT_EQ(framework.calibration.command, command);
  EXPECT_EQ(cluster.calibration.rows, 5);
  EXPECT_NE(cluster.device.matmul_efficiency, 0.5);
  EXPECT_GT(framework.traffic.step_time_sigma, 0.0);
  EXPECT_THAT(framework.sources,
              testing::IsSupersetOf(
                  {std::pair<std::string, std::string>("loss_traffic_bytes", "see calibration"),
                   std::pair<std::string, std::string>("vocab_multiple", "its code")}));
}

TEST_F(CalibrateCommandTest, TextNamesRowsConstantsSweepsAndFiles) {
  const CommandOutput run = Run({});
  ASSERT_EQ(run.exit_code, 0) << run.err;
  EXPECT_THAT(run.out, HasSubstr("5 measured steps (left out: 2 of another device, framework or "
                                 "sweep, 1 without a step time, 1 not modelled)"));
  EXPECT_THAT(run.out, HasSubstr("matmul_efficiency"));
  EXPECT_THAT(run.out, HasSubstr("the rows"));
  EXPECT_THAT(run.out, HasSubstr("its prior"));
  EXPECT_THAT(run.out, testing::ContainsRegex("small +3 "));
  EXPECT_THAT(run.out, HasSubstr("80 % of runs within a factor of"));
  EXPECT_THAT(run.out, HasSubstr("wrote " + fitted_cluster_ + " and " + fitted_framework_));
}

TEST_F(CalibrateCommandTest, JsonHasRowsConstantsAndSweeps) {
  const CommandOutput run = Run({"--format", "json"});
  ASSERT_EQ(run.exit_code, 0) << run.err;
  const json result = json::parse(run.out);
  EXPECT_EQ(result["rows"], 5);
  EXPECT_EQ(result["other_rows"], 2);
  EXPECT_EQ(result["unmeasured_rows"], 1);
  EXPECT_EQ(result["unmodelled_rows"], 1);
  EXPECT_GT(result["step_time_sigma"], 0.0);
  const json& matmul = result["cluster"]["constants"]["matmul_efficiency"];
  EXPECT_DOUBLE_EQ(matmul["prior"], 0.5);
  EXPECT_DOUBLE_EQ(matmul["value"], FittedCluster().device.matmul_efficiency);
  EXPECT_LT(matmul["sigma"], matmul["prior_sigma"]);
  EXPECT_TRUE(result["framework"]["constants"].contains("loss_traffic_bytes"));
  ASSERT_EQ(result["sweeps"].size(), 2u);
  EXPECT_EQ(result["sweeps"][0]["sweep"], "large");
  EXPECT_EQ(result["sweeps"][0]["rows"], 2);
  EXPECT_LT(result["sweeps"][1]["step_time_mape"], 0.2);
}

TEST_F(CalibrateCommandTest, OneSweepIsRecordedInTheCommand) {
  const CommandOutput run = Run({"--sweep", "small", "--format", "json"});
  ASSERT_EQ(run.exit_code, 0) << run.err;
  EXPECT_EQ(json::parse(run.out)["rows"], 3);
  EXPECT_THAT(FittedCluster().calibration.command, testing::EndsWith(" --sweep small"));
}

TEST_F(CalibrateCommandTest, PartsAreFittedAlone) {
  ASSERT_EQ(Run({"--fit", "hardware"}).exit_code, 0);
  EXPECT_EQ(FittedFramework(), planner::ProfileFromJson(kFramework).value());
  EXPECT_THAT(FittedCluster().calibration.command, testing::EndsWith(" --fit hardware"));
  ASSERT_EQ(Run({"--fit", "framework"}).exit_code, 0);
  EXPECT_EQ(FittedCluster(), planner::ClusterFromJson(kCluster, 2).value());
  EXPECT_THAT(FittedFramework().calibration.command, testing::EndsWith(" --fit framework"));
}

// From the files that it wrote, on the same runs, of which none counts twice.
TEST_F(CalibrateCommandTest, FittingAgainFromTheRecordedPriorsGivesTheSameProfile) {
  ASSERT_EQ(Run({}).exit_code, 0);
  const planner::ClusterSpec first = FittedCluster();
  const std::string again = folder_ / "again.json";
  ASSERT_EQ(RunCommand({"calibrate", "--measurements", runs_, "--cluster", fitted_cluster_,
                        "--framework", fitted_framework_, "-o", again, "--from-recorded-priors"})
                .exit_code,
            0);
  const planner::ClusterSpec second = planner::ClusterFromJson(Read(again), 2).value();
  EXPECT_THAT(second.calibration.command, testing::EndsWith(" --from-recorded-priors"));
  EXPECT_NEAR(second.device.matmul_efficiency / first.device.matmul_efficiency, 1.0, 1e-6);
  EXPECT_NEAR(second.device.memory_efficiency / first.device.memory_efficiency, 1.0, 1e-6);
  EXPECT_NEAR(second.scale_up.efficiency / first.scale_up.efficiency, 1.0, 1e-6);
}

// Two runs of a preset that take what it says, or nearly.
constexpr char kTwoRuns[] =
    "sweep,model,seq,gpu,gpus,tp,pp,mbs,gbs,zero_stage,outcome,step_time_s\r\n"
    "s,llama-3-8b,4096,NVIDIA H100 80GB HBM3,16,2,2,1,128,1,ok,3.55\r\n"
    "s,llama-3-8b,4096,NVIDIA H100 80GB HBM3,16,2,2,1,128,1,ok,3.6\r\n";

TEST_F(CalibrateCommandTest, TwoRunsOfAPresetLeaveItsConstantsAndWidenItsInterval) {
  const std::string runs = Write("two.csv", kTwoRuns);
  const CommandOutput run = RunCommand(
      {"calibrate", "--measurements", runs, "--cluster", "h100", "--framework", "megatron", "-o",
       fitted_cluster_, "--framework-output", fitted_framework_, "--format", "json"});
  ASSERT_EQ(run.exit_code, 0) << run.err;
  const planner::ClusterSpec shipped = planner::FindCluster("h100", 2).value();
  const planner::ClusterSpec fitted = FittedCluster();
  EXPECT_NEAR(fitted.device.matmul_efficiency / shipped.device.matmul_efficiency, 1.0, 0.02);
  EXPECT_EQ(fitted.calibration.rows, 2);
  EXPECT_EQ(fitted.calibration.prior_rows, shipped.calibration.rows);
  const json result = json::parse(run.out);
  EXPECT_GE(result["step_time_sigma"], result["step_time_sigma_before"]);
  EXPECT_LT(result["step_time_sigma"].get<double>(),
            1.5 * result["step_time_sigma_before"].get<double>());
  EXPECT_THAT(result["undecided"], testing::IsSupersetOf({"flash1_ratio", "memory_efficiency"}));
}

TEST_F(CalibrateCommandTest, NamesWhatTheRowsDidNotDecide) {
  const CommandOutput run = Run({});
  EXPECT_THAT(run.out,
              testing::ContainsRegex("not decided by the rows, within 3 % of their priors: .*"
                                     "flash1_ratio"));
}

// Runs of a preset that take half as long again as it says.
constexpr char kSlowRuns[] =
    "sweep,model,seq,gpu,gpus,tp,pp,mbs,gbs,zero_stage,outcome,step_time_s,source\n"
    "s,llama-3-8b,4096,NVIDIA H100 80GB HBM3,16,2,2,1,128,1,ok,4.5,ours\n"
    "s,llama-3-8b,4096,NVIDIA H100 80GB HBM3,16,2,1,1,128,1,ok,4.6,ours\n"
    "s,llama-3-8b,4096,NVIDIA H100 80GB HBM3,16,1,2,1,128,1,ok,4.7,ours\n";

TEST_F(CalibrateCommandTest, NamesWhatRowsMovedThatAreTooFewToDecide) {
  const std::string runs = Write("slow.csv", kSlowRuns);
  std::vector<std::string> arguments = {
      "calibrate",      "--measurements", runs, "--cluster",     "h100",
      "--framework",    "megatron",       "-o", fitted_cluster_, "--framework-output",
      fitted_framework_};
  const CommandOutput text = RunCommand(arguments);
  ASSERT_EQ(text.exit_code, 0) << text.err;
  EXPECT_THAT(text.out, testing::Not(HasSubstr("all are within 3 % of their priors")));
  EXPECT_THAT(text.out, testing::ContainsRegex(
                            "\nmoved, but by too few rows to decide them: .*memory_efficiency"));
  EXPECT_THAT(text.out, testing::ContainsRegex("memory_efficiency .* rows and prior"));
  arguments.insert(arguments.end(), {"--format", "json"});
  const json result = json::parse(RunCommand(arguments).out);
  EXPECT_THAT(result["moved_undecided"], testing::Contains("memory_efficiency"));
  EXPECT_THAT(result["moved_to_bound"], testing::Not(testing::Contains("memory_efficiency")));
  for (const json& name : result["moved_undecided"]) {
    EXPECT_THAT(result["undecided"], testing::Contains(name));
  }
}

// Ten times slower than the cluster's rows elsewhere in these tests.
TEST_F(CalibrateCommandTest, WarnsOfAConstantThatMovedToItsBound) {
  std::string slow = kCalibratedRuns;
  std::erase(slow, '.');
  runs_ = Write("slow.csv", slow);
  EXPECT_THAT(Run({}).out,
              HasSubstr("warning: moved to the limit of what is physically possible, so "
                        "the rows may misdescribe their runs: matmul_efficiency"));
  const json result = json::parse(Run({"--format", "json"}).out);
  EXPECT_THAT(result["moved_to_bound"], testing::Contains("matmul_efficiency"));
  EXPECT_THAT(result["undecided"], testing::Contains("matmul_efficiency"));
}

TEST_F(CalibrateCommandTest, TheClusterAloneKeepsTheIntervalThatItsRunsWidened) {
  const std::string runs = Write("slow.csv", kSlowRuns);
  const CommandOutput run =
      RunCommand({"calibrate", "--measurements", runs, "--cluster", "h100", "--framework",
                  "megatron", "-o", fitted_cluster_, "--format", "json"});
  ASSERT_EQ(run.exit_code, 0) << run.err;
  const CommandOutput plan =
      RunCommand({"recommend", "--model", "llama-3-8b", "--cluster", fitted_cluster_, "--framework",
                  "megatron", "--gpus", "16", "--seq-len", "4096", "--global-batch", "128",
                  "--format", "json"});
  ASSERT_EQ(plan.exit_code, 0) << plan.err;
  const json result = json::parse(run.out);
  EXPECT_GT(result["step_time_sigma"], result["step_time_sigma_before"]);
  const json rests_on = json::parse(plan.out)["rests_on"];
  EXPECT_GE(rests_on["step_time_sigma"], result["step_time_sigma"]);
  EXPECT_EQ(rests_on["cluster"]["name"], "fitted_cluster");
  EXPECT_EQ(rests_on["cluster"]["rows"], 73);
  EXPECT_EQ(rests_on["cluster"]["sources"], json::array({"llm-foundry", "ours"}));
}

TEST_F(CalibrateCommandTest, SaysThatConstantsAreInNoFile) {
  const CommandOutput run = RunCommand({"calibrate", "--measurements", runs_, "--cluster", cluster_,
                                        "--framework", framework_, "-o", fitted_cluster_});
  EXPECT_THAT(run.out, HasSubstr("the constants of toy-engine were fitted too and are in no file"));
}

TEST_F(CalibrateCommandTest, UnreadableRowsAreListed) {
  const std::string runs =
      Write("some.csv", std::string(kCalibratedRuns) +
                            "small,llama-x,16,2048,5632,16,16,32000,2048,toy,8,1,1,8,1,64,"
                            "toy-engine,ok,-2\n");
  const std::vector<std::string> arguments = {
      "calibrate",   "--measurements", runs, "--cluster",    cluster_,
      "--framework", framework_,       "-o", fitted_cluster_};
  const CommandOutput text = RunCommand(arguments);
  ASSERT_EQ(text.exit_code, 0) << text.err;
  EXPECT_THAT(text.out, HasSubstr("1 not modelled, 1 unreadable)"));
  EXPECT_THAT(text.out, HasSubstr("some.csv line 11 step_time_s = -2: must be above 0"));
  std::vector<std::string> as_json = arguments;
  as_json.insert(as_json.end(), {"--format", "json"});
  const json result = json::parse(RunCommand(as_json).out);
  EXPECT_EQ(result["unreadable_rows"], 1);
  EXPECT_EQ(result["unreadable"][0]["line"], 11);
  EXPECT_EQ(result["not_modelled"][0]["rows"], 1);
}

TEST_F(CalibrateCommandTest, NoUsableRowSaysWhy) {
  const std::string runs = Write("bad.csv", "gpu,framework,step_time_s\ntoy,toy-engine,-1\nX,,2\n");
  const CommandOutput run = RunCommand({"calibrate", "--measurements", runs, "--cluster", cluster_,
                                        "--framework", framework_, "-o", fitted_cluster_});
  EXPECT_EQ(run.exit_code, 2);
  EXPECT_THAT(run.err, HasSubstr("left out: 1 of another device, framework or sweep, 1 unreadable; "
                                 "for example, " +
                                 runs + " line 2 step_time_s = -1"));
  EXPECT_FALSE(fs::exists(fitted_cluster_));
}

TEST_F(CalibrateCommandTest, TheFittedFilesAreReadByOtherCommands) {
  ASSERT_EQ(Run({}).exit_code, 0);
  const CommandOutput run =
      RunCommand({"validate", "--measurements", runs_, "--cluster", fitted_cluster_, "--framework",
                  fitted_framework_, "--format", "json"});
  EXPECT_EQ(run.exit_code, 0) << run.err;
}

TEST_F(CalibrateCommandTest, BadInputIsNamedAndWritesNothing) {
  const auto expect_error = [this](const std::vector<std::string>& arguments,
                                   const std::string& message) {
    const CommandOutput run = RunCommand(arguments);
    EXPECT_EQ(run.exit_code, 2) << message;
    EXPECT_THAT(run.err, HasSubstr(message));
    EXPECT_FALSE(fs::exists(fitted_cluster_)) << message;
  };
  const auto arguments = [this](const std::string& runs) {
    return std::vector<std::string>{"calibrate",   "--measurements", runs, "--cluster",    cluster_,
                                    "--framework", framework_,       "-o", fitted_cluster_};
  };
  std::vector<std::string> some = arguments(runs_);
  some.insert(some.end(), {"--fit", "some"});
  expect_error(some, "--fit some: must be all, hardware or framework");
  expect_error(arguments("/no/such.csv"), "/no/such.csv: cannot be read");
  expect_error(arguments(Write("header.csv", "sweep,model\n")), "--measurements 0 rows: must hold");
  std::vector<std::string> no_sweep = arguments(runs_);
  no_sweep.insert(no_sweep.end(), {"--sweep", "none-such"});
  expect_error(no_sweep, "--measurements 0 rows");
  expect_error({"calibrate", "--measurements", runs_, "--cluster", "h10", "--framework", framework_,
                "-o", fitted_cluster_},
               "h100");
  expect_error({"calibrate", "--measurements", runs_, "--cluster", cluster_, "--framework", "mega",
                "-o", fitted_cluster_},
               "megatron");
  expect_error(
      {"calibrate", "--measurements", runs_, "--cluster", cluster_, "--framework", framework_},
      "--output is required");
}

TEST_F(CalibrateCommandTest, AFileThatCannotBeWrittenIsNamed) {
  const CommandOutput run = RunCommand({"calibrate", "--measurements", runs_, "--cluster", cluster_,
                                        "--framework", framework_, "-o", "/no/such/cluster.json"});
  EXPECT_EQ(run.exit_code, 2);
  EXPECT_THAT(run.err, HasSubstr("/no/such/cluster.json: cannot be written"));
}

}  // namespace
}  // namespace meshwright::cli
