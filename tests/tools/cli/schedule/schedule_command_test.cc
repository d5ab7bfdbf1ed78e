#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

#include "nlohmann/json.hpp"
#include "tests/tools/command_runner.h"
#include "tests/tools/golden.h"

namespace meshwright::cli {
namespace {

using nlohmann::json;
using testing::HasSubstr;

std::vector<std::string> Schedule(const std::string& layout, const std::string& micro_batches,
                                  const std::vector<std::string>& more = {}) {
  std::vector<std::string> arguments = {"schedule", "--layout", layout, "--micro-batches",
                                        micro_batches};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return arguments;
}

TEST(ScheduleText, MatchesTheGoldenFile) {
  std::string text;
  for (const char* layout :
       {"tp1.pp4.dp1.sched=gpipe", "tp1.pp4.dp1.sched=1f1b", "tp1.pp4.dp1.vpp2.sched=interleaved",
        "tp1.pp4.dp1.vpp2.sched=breadth_first", "tp1.pp4.dp1.sched=zb_h1",
        "tp1.pp4.dp1.vpp2.sched=zb_v"}) {
    const CommandOutput run = RunCommand(Schedule(layout, "8"));
    EXPECT_EQ(run.exit_code, 0) << run.err;
    text += run.out + "\n";
  }
  ExpectGolden("schedule_text.txt", text);
}

TEST(ScheduleText, LeavesOutALongTimeline) {
  const CommandOutput run = RunCommand(Schedule("tp1.pp4.dp1", "100"));
  EXPECT_EQ(run.exit_code, 0);
  EXPECT_THAT(run.out, HasSubstr("-o FILE.svg"));
  EXPECT_THAT(run.out, testing::Not(HasSubstr("FFFF")));
}

TEST(ScheduleJson, SaysWhatTheTextSays) {
  const CommandOutput run = RunCommand(Schedule(
      "tp1.pp4.dp1", "8",
      {"--forward-ms", "2", "--backward-ms", "3", "--weight-ms", "1", "--format", "json"}));
  ASSERT_EQ(run.exit_code, 0) << run.err;
  const json answer = json::parse(run.out);
  EXPECT_NEAR(answer["step_s"].get<double>(), (8 + 3) * 6e-3, 1e-12);
  EXPECT_NEAR(answer["bubble_share"].get<double>(), 3.0 / 11.0, 1e-12);
  EXPECT_EQ(answer["ranks"].size(), 4u);
  EXPECT_EQ(answer["ranks"][0]["chunks_in_flight"], 4);
  EXPECT_TRUE(answer["layer_kinds"].empty()) << "no model, no layers";
}

TEST(ScheduleJson, HopsCountMoreWhereTheyBlock) {
  const auto step_s = [](std::vector<std::string> more) {
    more.insert(more.end(), {"--hop-ms", "0.5", "--format", "json"});
    return json::parse(RunCommand(Schedule("tp1.pp2.dp1", "8", more)).out)["step_s"].get<double>();
  };
  EXPECT_GT(step_s({"--blocking-hops"}), step_s({}));
  EXPECT_GT(step_s({}), 27e-3);
}

TEST(ScheduleOfAModel, TakesMicroBatchesAndTimesFromThePlanner) {
  const std::vector<std::string> model = {"--model",   "llama-3-8b", "--cluster",      "h100",
                                          "--seq-len", "8192",       "--global-batch", "32"};
  std::vector<std::string> arguments = {"schedule", "--format", "json", "--layout",
                                        "tp2.pp4.dp1.sched=1f1b"};
  arguments.insert(arguments.end(), model.begin(), model.end());
  const CommandOutput run = RunCommand(arguments);
  ASSERT_EQ(run.exit_code, 0) << run.err;
  const json answer = json::parse(run.out);
  EXPECT_EQ(answer["micro_batches"], 32);
  EXPECT_GT(answer["step_s"].get<double>(), 0.1);
  EXPECT_LT(answer["step_s"].get<double>(), 100.0);
  ASSERT_EQ(answer["layer_kinds"].size(), 1u);
  const json& kind = answer["layer_kinds"][0];
  EXPECT_EQ(kind["name"], "attention, FFN");
  EXPECT_EQ(kind["layers"], 32);
  double layer_s = 0.0;
  for (const json& op : kind["operators"]) {
    for (const char* field : {"forward_s", "backward_s", "tp_forward_s", "tp_backward_s"}) {
      layer_s += op[field].get<double>();
    }
  }
  // Each rank runs 32 / 4 layers for each micro-batch; the second rank runs nothing else.
  const double layers_s = 32 * 8 * layer_s;
  EXPECT_NEAR(answer["ranks"][1]["busy_s"].get<double>(), layers_s, 1e-9 * layers_s);
  arguments[4] = "tp2.pp3.dp1.sched=1f1b";
  EXPECT_THAT(RunCommand(arguments).err, HasSubstr("32 layers"));
}

class Drawing : public testing::Test {
 protected:
  std::string Draw(const std::string& name, const std::string& layout) {
    const std::string path = (std::filesystem::path(testing::TempDir()) / name).string();
    const CommandOutput run = RunCommand(Schedule(layout, "8", {"-o", path}));
    EXPECT_EQ(run.exit_code, 0) << run.err;
    EXPECT_THAT(run.out, HasSubstr(path));
    std::ostringstream text;
    text << std::ifstream(path).rdbuf();
    return text.str();
  }
};

TEST_F(Drawing, ATraceHasAThreadPerRankAndAnEventPerAction) {
  const json trace = json::parse(Draw("trace.json", "tp1.pp4.dp1.vpp2.sched=zb_v"));
  int names = 0;
  std::map<int, double> end_us;  // by thread
  int events = 0;
  for (const json& event : trace["traceEvents"]) {
    if (event["name"] == "thread_name") ++names;
    if (event["ph"] != "X") continue;
    ++events;
    double& end = end_us[event["tid"].get<int>()];
    EXPECT_GE(event["ts"].get<double>(), end - 1e-6) << "two actions at once";
    end = event["ts"].get<double>() + event["dur"].get<double>();
  }
  EXPECT_EQ(names, 4);
  EXPECT_EQ(events, 4 * 2 * 8 * 3);
  EXPECT_EQ(end_us.size(), 4u);
  const json& first = *std::find_if(trace["traceEvents"].begin(), trace["traceEvents"].end(),
                                    [](const json& event) { return event["ph"] == "X"; });
  EXPECT_THAT(first["name"].get<std::string>(), testing::MatchesRegex("[FIW][0-7]\\.c[01]"));
}

TEST_F(Drawing, APictureMatchesTheGoldenFile) {
  ExpectGolden("schedule_zb_h1.svg", Draw("timeline.svg", "tp1.pp4.dp1.sched=zb_h1"));
}

struct BadSchedule {
  const char* name;
  std::vector<std::string> arguments;
  const char* sentence;
};

class BadSchedules : public testing::TestWithParam<BadSchedule> {};

TEST_P(BadSchedules, GetOneClearSentenceAndExitCode2) {
  const CommandOutput run = RunCommand(GetParam().arguments);
  EXPECT_EQ(run.exit_code, 2);
  EXPECT_THAT(run.err, HasSubstr(GetParam().sentence));
  EXPECT_EQ(std::count(run.err.begin(), run.err.end(), '\n'), 1) << run.err;
}

INSTANTIATE_TEST_SUITE_P(
    Each, BadSchedules,
    testing::Values(
        BadSchedule{"NoLayout", {"schedule", "--micro-batches", "8"}, "--layout"},
        BadSchedule{"NoMicroBatches",
                    {"schedule", "--layout", "tp1.pp2.dp1"},
                    "--micro-batches is required"},
        BadSchedule{"BadLayout", Schedule("tp1.pp2.dp1.sched=2f2b", "8"), "sched=2f2b"},
        BadSchedule{"ChunksOfZbV", Schedule("tp1.pp2.dp1.vpp3.sched=zb_v", "8"), "vpp = 3"},
        BadSchedule{"Interleaved", Schedule("tp1.pp4.dp1.vpp2", "6"), "--micro-batches 6:"},
        BadSchedule{"Negative", Schedule("tp1.pp2.dp1", "8", {"--hop-ms", "-1"}), "--hop-ms -1:"},
        BadSchedule{"NotANumber", Schedule("tp1.pp2.dp1", "8", {"--forward-ms", "nan"}),
                    "--forward-ms nan:"},
        BadSchedule{"NothingToDo",
                    Schedule("tp1.pp2.dp1", "8",
                             {"--forward-ms", "0", "--backward-ms", "0", "--weight-ms", "0"}),
                    "must not all be 0"},
        BadSchedule{"Ending", Schedule("tp1.pp2.dp1", "8", {"-o", "x.png"}), "-o x.png:"},
        BadSchedule{"TooLarge", Schedule("tp1.pp1024.dp1", "100000"), "--micro-batches 100000:"},
        BadSchedule{"TooLargeToDraw", Schedule("tp1.pp1000.dp1", "1000", {"-o", "x.svg"}),
                    "can be drawn"},
        BadSchedule{"ModelAndMicroBatches", Schedule("tp1.pp2.dp1", "8", {"--model", "llama-3-8b"}),
                    "--micro-batches"},
        BadSchedule{"ClusterAlone",
                    {"schedule", "--layout", "tp1.pp2.dp1", "--cluster", "h100"},
                    "--model is required: must name a file, a folder or a preset"}),
    [](const auto& test) { return test.param.name; });

TEST(ScheduleFile, ThatCannotBeWrittenIsBadInput) {
  const CommandOutput run = RunCommand(Schedule("tp1.pp2.dp1", "8", {"-o", "/nonexistent/x.json"}));
  EXPECT_EQ(run.exit_code, 2);
  EXPECT_THAT(run.err, HasSubstr("-o /nonexistent/x.json: cannot be written"));
}

}  // namespace
}  // namespace meshwright::cli
