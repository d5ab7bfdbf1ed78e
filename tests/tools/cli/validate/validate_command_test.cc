#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "absl/strings/str_split.h"
#include "nlohmann/json.hpp"
#include "planner/spec/option_choice.h"
#include "tests/tools/cli/toy_cluster.h"
#include "tests/tools/command_runner.h"
#include "tests/tools/golden.h"

namespace meshwright::cli {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using testing::HasSubstr;

// Invented runs of an invented cluster and framework, so that no preset's figures show here.
constexpr char kValidatedRuns[] =
    "sweep,model,layers,hidden,ffn,heads,kv_heads,vocab,seq,gpu,gpus,tp,pp,dp,mbs,gbs,schedule,"
    "outcome,step_time_s,peak_mem_gib\n"
    "small,llama-x,16,2048,5632,16,16,32000,2048,toy,8,1,1,8,1,64,,ok,2.1,30\n"
    "small,llama-x,16,2048,5632,16,16,32000,2048,toy,8,2,1,4,1,64,,ok,2.2,20\n"
    "small,llama-x,16,2048,5632,16,16,32000,2048,toy,8,1,2,4,1,64,,ok,2.4,18\n"
    "small,llama-x,16,2048,5632,16,16,32000,2048,toy,8,1,1,8,8,64,,oom,,\n"
    "large,llama-y,40,5120,13824,40,40,32000,2048,toy,8,8,1,1,1,64,,error,,\n"
    "large,llama-y,40,5120,13824,40,40,32000,2048,toy,8,8,1,1,16,64,,oom,,\n"
    "large,llama-y,40,5120,13824,40,40,32000,2048,toy,8,1,3,1,1,64,,ok,9.0,\n"
    "large,llama-y,40,5120,13824,40,40,,2048,toy,8,8,1,1,1,64,,ok,9.0,\n"
    "large,mixtral-y,40,5120,13824,40,40,32000,2048,toy,8,8,1,1,1,64,,ok,9.0,\n"
    "large,llama-y,40,5120,13824,40,40,32000,2048,toy,8,2,4,1,1,64,dualpipe,ok,9.0,\n";

class ValidateCommandTest : public testing::Test {
 protected:
  void SetUp() override {
    fs::create_directories(folder_);
    runs_ = Write("runs.csv", kValidatedRuns);
    cluster_ = Write("toy.json", kToyCluster);
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
    std::vector<std::string> arguments = {"validate", "--measurements", runs_, "--cluster",
                                          cluster_};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return RunCommand(arguments);
  }

  const fs::path folder_ = fs::path(testing::TempDir()) / "validate_command_test";
  std::string runs_;
  std::string cluster_;
};

TEST_F(ValidateCommandTest, TextMatchesTheGoldenFile) {
  const CommandOutput run = Run({});
  EXPECT_EQ(run.exit_code, 0) << run.err;
  ExpectGolden("validate_invented_runs.txt", run.out);
}

TEST_F(ValidateCommandTest, JsonRowsAndPlot) {
  const std::string rows = folder_ / "rows.csv";
  const std::string plot = folder_ / "plot.svg";
  const CommandOutput run = Run({"--format", "json", "--rows", rows, "--plot", plot});
  ASSERT_EQ(run.exit_code, 0) << run.err;
  const json report = json::parse(run.out);
  EXPECT_EQ(report["sweeps"].size(), 2u);
  EXPECT_EQ(report["total"]["rows"], 10);
  EXPECT_EQ(report["total"]["modelled"], 7);
  EXPECT_EQ(report["total"]["ok"], 7);
  EXPECT_EQ(report["sweeps"][0]["sweep"], "small");
  EXPECT_TRUE(report["sweeps"][0]["regret_safe_points"].is_number());
  const std::string csv = Read(rows);
  EXPECT_EQ(std::count(csv.begin(), csv.end(), '\n'), 11);
  EXPECT_THAT(csv, HasSubstr("\n6,large,,,,,,tp * cp * pp * dp is 3; but there are 8 devices,,,"));
  EXPECT_THAT(
      csv,
      HasSubstr(
          "\n8,large,,,,,,experts = (empty): a model with experts needs this; in a column or the "
          "notes,,,"));
  EXPECT_THAT(Read(plot), HasSubstr("<svg"));
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_), fs::directory_iterator()), 4);
}

TEST_F(ValidateCommandTest, RowsCountOverAllFiles) {
  const std::string rows = folder_ / "rows.csv";
  const CommandOutput run = RunCommand({"validate", "--measurements", runs_, runs_, "--cluster",
                                        cluster_, "--rows", rows, "--format", "json"});
  ASSERT_EQ(run.exit_code, 0) << run.err;
  EXPECT_EQ(json::parse(run.out)["sweeps"][0]["rows"], 8);
  EXPECT_THAT(Read(rows), HasSubstr("\n19,large,"));
}

TEST_F(ValidateCommandTest, UnknownHardwareAndFrameworksAreReasonsNotErrors) {
  const std::string runs = Write("odd.csv", "gpu,framework,outcome\nX1,,ok\nH100,odd,ok\n");
  const std::string rows = folder_ / "rows.csv";
  const CommandOutput run = RunCommand({"validate", "--measurements", runs, "--rows", rows});
  EXPECT_EQ(run.exit_code, 3) << run.err;
  EXPECT_THAT(Read(rows), HasSubstr("0,,,,,,,gpu = X1: no cluster preset for this GPU,,,,,0,,,\n"));
  EXPECT_THAT(Read(rows),
              HasSubstr("framework = odd: no framework profile of this name,,,,,0,,,\n"));
}

TEST_F(ValidateCommandTest, AHeaderAloneIsAnEmptyReport) {
  const std::string empty = Write("header.csv", "sweep,model\n");
  const CommandOutput run = RunCommand({"validate", "--measurements", empty});
  EXPECT_EQ(run.exit_code, 3);
  EXPECT_THAT(run.out, HasSubstr("0 measurements in 0 sweeps"));
}

TEST_F(ValidateCommandTest, TextThatIsNotUtf8IsReplaced) {
  const std::string runs = Write("latin.csv", "sweep,tp\n\xE9,1\n");
  const CommandOutput run = RunCommand({"validate", "--measurements", runs, "--format", "json"});
  EXPECT_EQ(run.exit_code, 3) << run.err;
  EXPECT_EQ(json::parse(run.out)["sweeps"][0]["sweep"], "\xEF\xBF\xBD");
  const std::string bad = Write("bad.csv", "sweep,tp\nx,\xE9\n");
  const CommandOutput odd = RunCommand({"validate", "--measurements", bad, "--format", "json"});
  EXPECT_EQ(odd.exit_code, 3) << odd.err;
  EXPECT_EQ(json::parse(odd.out)["total"]["modelled"], 0);
}

TEST_F(ValidateCommandTest, ACellThatCannotBeReadCostsItsRowAlone) {
  const std::string runs = Write("odd.csv", "sweep,tp\na,x\nb,1\n");
  const std::string rows = folder_ / "odd_rows.csv";
  const CommandOutput run = RunCommand({"validate", "--measurements", runs, "--rows", rows});
  EXPECT_EQ(run.exit_code, 3) << run.err;
  EXPECT_THAT(Read(rows),
              HasSubstr("0,a,,,,,,line 2 tp = x: must be a whole number or empty,,,,,0,,,\n"));
  EXPECT_THAT(Read(rows), HasSubstr("1,b,"));
}

// A run of a preset, as nvidia-smi and a table program write it.
constexpr char kHeader[] =
    "sweep,model,seq,gpu,gpus,tp,pp,mbs,gbs,zero_stage,outcome,step_time_s,notes";
std::string PresetRun(const std::string& gpu, const std::string& step_s) {
  return "s,llama-3-8b,4096," + gpu + ",16,2,2,1,128,1,ok," + step_s + ",";
}
constexpr char kH100[] = "NVIDIA H100 80GB HBM3";

TEST_F(ValidateCommandTest, NothingModelledIsExitCode3WithTheReasonsCounted) {
  const std::string p100 = PresetRun("Tesla P100-SXM2-16GB", "3");
  const std::string runs =
      Write("none.csv", std::string(kHeader) + "\n" + p100 + "\n" + p100 + "\n");
  const CommandOutput text = RunCommand({"validate", "--measurements", runs});
  EXPECT_EQ(text.exit_code, 3);
  EXPECT_THAT(text.out, HasSubstr("2  gpu: no cluster preset for this GPU [Tesla P100-SXM2-16GB]"));
  const CommandOutput run = RunCommand({"validate", "--measurements", runs, "--format", "json"});
  EXPECT_EQ(run.exit_code, 3);
  const json causes = json::parse(run.out)["not_modelled"];
  ASSERT_EQ(causes.size(), 1u);
  EXPECT_EQ(causes[0]["cause"], "gpu: no cluster preset for this GPU");
  EXPECT_EQ(causes[0]["rows"], 2);
  EXPECT_EQ(causes[0]["values"][0]["value"], "Tesla P100-SXM2-16GB");
}

TEST_F(ValidateCommandTest, OptionsOfARunAreColumnsAndNotes) {
  const std::string run_of = PresetRun(kH100, "3");
  const std::string runs = Write(
      "options.csv", std::string(kHeader) + ",loss,documents\n" + run_of + ",,\n" + run_of +
                         ",fused,\n" + run_of + "loss=fused,,\n" + run_of + "by hand,,many\n");
  const std::string rows = folder_ / "rows.csv";
  const CommandOutput run = RunCommand({"validate", "--measurements", runs, "--rows", rows});
  EXPECT_EQ(run.exit_code, 0) << run.err;
  const std::vector<std::string> lines = absl::StrSplit(Read(rows), '\n');
  ASSERT_GE(lines.size(), 5u);
  EXPECT_NE(lines[2].substr(2), lines[1].substr(2));  // behind the number of the row
  EXPECT_EQ(lines[3].substr(2), lines[2].substr(2));
  EXPECT_THAT(lines[4], HasSubstr("documents = many: must be N; padded; padded:N or none"));
  const std::string help = RunCommand({"validate", "--help"}).out;
  for (const std::string_view option : planner::OptionNames()) {
    EXPECT_THAT(help, HasSubstr(std::string(option))) << "columns";
  }
}

TEST_F(ValidateCommandTest, WindowsLinesWithAnEmptyLastCellAreReadAsOthers) {
  const std::string run = PresetRun(kH100, "3.3");
  const std::string windows = Write("crlf.csv", std::string(kHeader) + "\r\n" + run + "\r\n");
  const std::string plain = Write("lf.csv", std::string(kHeader) + "\n" + run + "\n");
  const CommandOutput first = RunCommand({"validate", "--measurements", windows});
  EXPECT_EQ(first.exit_code, 0) << first.out;
  EXPECT_THAT(first.out, HasSubstr("; 1 modelled\n"));
  EXPECT_EQ(first.out, RunCommand({"validate", "--measurements", plain}).out);
}

TEST_F(ValidateCommandTest, UnreadableRowsAreListedWithFileAndLine) {
  const std::string runs =
      Write("some.csv", std::string(kHeader) + "\n" + PresetRun(kH100, "3.3") + "\n" +
                            PresetRun(kH100, "-1") + "\n" + PresetRun(kH100, "0.001") + "\n");
  const CommandOutput text = RunCommand({"validate", "--measurements", runs});
  EXPECT_EQ(text.exit_code, 0) << text.err;
  EXPECT_THAT(text.out, HasSubstr("; 1 modelled, 2 unreadable\n"));
  EXPECT_THAT(text.out, HasSubstr("Unreadable rows, 2"));
  EXPECT_THAT(text.out, HasSubstr("  " + runs + " line 3 step_time_s = -1: must be above 0"));
  EXPECT_THAT(text.out, HasSubstr("  " + runs + " line 4 step_time_s = 0.001: makes an MFU of"));
  const json report =
      json::parse(RunCommand({"validate", "--measurements", runs, "--format", "json"}).out);
  EXPECT_EQ(report["unreadable_rows"], 2);
  EXPECT_EQ(report["unreadable"][0]["file"], runs);
  EXPECT_EQ(report["unreadable"][0]["line"], 3);
  EXPECT_THAT(report["unreadable"][0]["reason"].get<std::string>(), HasSubstr("step_time_s = -1"));
}

TEST_F(ValidateCommandTest, APlotOfAnotherKindIsRefusedBeforeAnyWork) {
  const std::string plot = folder_ / "plot.png";
  const CommandOutput run =
      RunCommand({"validate", "--measurements", "/no/such.csv", "--plot", plot});
  EXPECT_EQ(run.exit_code, 2);
  EXPECT_THAT(run.err, HasSubstr("--plot " + plot + ": must end in .svg"));
  EXPECT_FALSE(fs::exists(plot));
}

TEST_F(ValidateCommandTest, BadInputNamesTheFile) {
  const auto expect_error = [](const std::vector<std::string>& arguments, const char* message) {
    const CommandOutput run = RunCommand(arguments);
    EXPECT_EQ(run.exit_code, 2);
    EXPECT_THAT(run.err, HasSubstr(message));
  };
  expect_error({"validate", "--measurements", "/no/such.csv"}, "/no/such.csv: cannot be read");
  expect_error({"validate", "--measurements", folder_}, "is a folder");
  expect_error({"validate", "--measurements", Write("empty.csv", "")}, "empty.csv: is an empty");
  const std::string runs = Write("runs.csv", "tp\nx\n");
  expect_error({"validate", "--measurements", runs, "--rows", runs}, "must not be written over");
  expect_error({"validate", "--measurements", runs, "--rows", folder_ / "a.svg", "--plot",
                folder_ / "a.svg"},
               "must be another file");
  expect_error({"validate"}, "--measurements is required");
  expect_error({"validate", "--measurements", runs_, "--cluster", "h10"}, "h100");
  expect_error({"validate", "--measurements", runs_, "--framework", "mega"}, "megatron");
  expect_error({"validate", "--measurements", runs_, "--rows", "/no/such/rows.csv"},
               "--rows /no/such/rows.csv: cannot be written");
}

TEST_F(ValidateCommandTest, AnInterruptLeavesTheOldFile) {
  const std::string rows = Write("rows.csv", "old");
  const std::atomic<bool> interrupted{true};
  const CommandOutput run =
      RunCommand({"validate", "--measurements", runs_, "--rows", rows}, "", interrupted);
  EXPECT_EQ(run.exit_code, 130);
  EXPECT_EQ(Read(rows), "old");
}

}  // namespace
}  // namespace meshwright::cli
