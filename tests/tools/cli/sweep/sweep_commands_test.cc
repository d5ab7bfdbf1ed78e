// `meshwright sweep …` against a server in this process, whose agents' results are invented.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "nlohmann/json.hpp"
#include "tests/server/server_fixture.h"
#include "tests/tools/command_runner.h"

namespace meshwright::cli {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

// The work of a step is the same in all layouts, and so is the peak: their product too.
double MfuTimesStep(const json& figures, double step_s) {
  return figures["mfu"].get<double>() * step_s;
}

class SweepCommandsTest : public server::ServerFixture {
 protected:
  CommandOutput Sweep(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "sweep");
    arguments.insert(arguments.end(), {"--server", server_->address()});
    return RunCommand(arguments);
  }
  CommandOutput StartTiny(const std::string& name, std::vector<std::string> more = {}) {
    std::vector<std::string> arguments = {
        "start",  "--name", name,        "--model", "tinystories-15m", "--cluster", "local-cpu",
        "--gpus", "4",      "--seq-len", "64",      "--global-batch",  "8"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return Sweep(arguments);
  }
  json Show(const std::string& name) {
    const CommandOutput run = Sweep({"show", name, "--format", "json"});
    EXPECT_EQ(run.exit_code, 0) << run.err;
    return json::parse(run.out);
  }
  // Steps of 0.5 s, 0.6 s, … in the order in which trials are run, each known to 70 ms either way.
  std::unique_ptr<server::TestAgent> Agent() {
    return std::make_unique<server::TestAgent>(
        server_->address(), "a",
        [this](const trial::TrialPlan& plan, const trial::TrialRunnerOptions&) {
          trial::TrialResult result = server::Measured(plan);
          result.step_s = 0.5 + 0.1 * next_++;
          if (with_intervals_) {
            result.step_interval =
                trial::MedianInterval{result.step_s - 0.07, result.step_s + 0.07};
          }
          result.measured_peak_flops = 1e10 * next_;  // each run reached another peak
          return result;
        });
  }
  // A sweep of four trials that has ended.
  void RunTiny(const std::string& name) {
    const CommandOutput run =
        StartTiny(name, {"--trials", "4", "--candidates", "4", "--min-gain", "0"});
    ASSERT_EQ(run.exit_code, 0) << run.err;
    const auto agent = Agent();
    Watch("sweeps/" + name);
  }

  std::atomic<int> next_{0};
  bool with_intervals_ = true;
};

TEST_F(SweepCommandsTest, ShowRanksByStepAndSaysWhatIsNotToldApart) {
  RunTiny("s");
  const json shown = Show("s");
  ASSERT_EQ(shown["trials"].size(), 4u);
  EXPECT_GT(shown["peak_flops"].get<double>(), 0.0);
  EXPECT_THAT(shown["peak_source"].get<std::string>(), HasSubstr("local-cpu: order of magnitude"));
  const std::vector<int> ranks = {1, 1, 2, 3};  // two neighbours overlap, their neighbours don't
  for (size_t i = 0; i < 4; ++i) {
    const json& trial = shown["trials"][i];
    EXPECT_NEAR(trial["step_s"].get<double>(), 0.5 + 0.1 * static_cast<double>(i), 1e-12);
    EXPECT_NEAR(trial["step_low_s"].get<double>(), trial["step_s"].get<double>() - 0.07, 1e-12);
    EXPECT_EQ(trial["rank"], ranks[i]);
    EXPECT_EQ(trial["rank_shared"], true);
    EXPECT_FALSE(trial["requested"]);
    // One peak for all, whatever the workers say they reached.
    const json& predicted = trial["predicted"];
    EXPECT_NEAR(MfuTimesStep(trial, trial["step_s"]),
                MfuTimesStep(predicted, predicted["time"]["step_s"]), 1e-9);
    EXPECT_LT(trial["mfu_causal"], trial["mfu"]);
  }
  const CommandOutput text = Sweep({"show", "s"});
  EXPECT_THAT(text.out, AllOf(HasSubstr("is the fastest layout measured: 500.0 ms a step"),
                              HasSubstr("  1="), HasSubstr("\n=       may be as fast as another"),
                              Not(HasSubstr("asked for with --layout"))));
  // Estimated memory is left to the details, so that the table has at most 80 columns.
  EXPECT_THAT(text.out, Not(testing::ContainsRegex("memory +est. memory\n")));
  const CommandOutput details = Sweep({"show", "s", "--details"});
  EXPECT_THAT(details.out, AllOf(testing::ContainsRegex("memory +est. memory\n"),
                                 HasSubstr("430.0 ms to 570.0 ms"),
                                 HasSubstr("a rank, the stated fp32 peak of local-cpu")));
}

TEST_F(SweepCommandsTest, WithoutIntervalsShowSaysSo) {
  with_intervals_ = false;
  RunTiny("s");
  const json shown = Show("s");
  EXPECT_EQ(shown["trials"][3]["rank"], 4);
  EXPECT_EQ(shown["trials"][3]["rank_shared"], false);
  EXPECT_TRUE(shown["trials"][3]["step_low_s"].is_null());
  EXPECT_THAT(Sweep({"show", "s", "--details"}).out, HasSubstr("too few steps were timed"));
}

TEST_F(SweepCommandsTest, AnMfuAbove100PercentIsFlaggedWithItsReason) {
  CommandOutput run = StartTiny("s", {"--trials", "1"});
  ASSERT_EQ(run.exit_code, 0) << run.err;
  const server::TestAgent agent(server_->address(), "a",
                                [](const trial::TrialPlan& plan, const auto&) {
                                  trial::TrialResult result = server::Measured(plan);
                                  result.step_s = 1e-4;
                                  return result;
                                });
  Watch("sweeps/s");
  const json shown = Show("s");
  EXPECT_GT(shown["trials"][0]["mfu"].get<double>(), 1.0);
  EXPECT_THAT(shown["trials"][0]["mfu_note"].get<std::string>(), HasSubstr("beat the stated peak"));
  EXPECT_THAT(Sweep({"show", "s"}).out, HasSubstr("Trial 1: MFU above 100 %"));
  EXPECT_THAT(Sweep({"watch", "s"}).out, HasSubstr("MFU above 100 %: meshwright sweep show says"));
}

TEST_F(SweepCommandsTest, WatchRanksWhatWasMeasuredSoFar) {
  RunTiny("s");
  const CommandOutput run = Sweep({"watch", "s"});
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_THAT(
      run.out,
      AllOf(HasSubstr("0.5 s per step (0.43 to 0.57), MFU"), HasSubstr("rank 1 of 1 so far"),
            HasSubstr("rank 1= of 2 so far"), HasSubstr("rank 3= of 4 so far"),
            HasSubstr("fastest: trial 1, 500.0 ms per step, not told apart from 2")));
  // What lies before --after counts and is not shown again.
  std::istringstream lines(Sweep({"watch", "s", "--format", "json"}).out);
  std::string line;
  json event;
  for (int ended = 0; ended < 3 && std::getline(lines, line);) {
    event = json::parse(line);
    ended += event["kind"] == "trial_ended" ? 1 : 0;
  }
  const CommandOutput rest =
      Sweep({"watch", "s", "--after", std::to_string(event["sequence"].get<int64_t>())});
  EXPECT_THAT(rest.out, AllOf(HasSubstr("4/4 trial 4"), HasSubstr("rank 3= of 4 so far"),
                              Not(HasSubstr("of 3 so far"))));
}

TEST_F(SweepCommandsTest, StartMeasuresMyLayoutBesideTheBest) {
  CommandOutput run =
      StartTiny("s", {"--trials", "2", "--candidates", "2", "--min-gain", "0", "--layout",
                      "tp1.pp1.dp4.mb1.rc=full", "--layout", "tp2.pp1.dp2.mb1"});
  ASSERT_EQ(run.exit_code, 0) << run.err;
  EXPECT_THAT(run.out, HasSubstr("sweep s: 4 trials"));
  json shown = Show("s");
  int requested = 0;
  for (const json& trial : shown["trials"]) requested += trial["requested"].get<bool>() ? 1 : 0;
  EXPECT_EQ(requested, 2);
  EXPECT_THAT(Sweep({"show", "s"}).out, HasSubstr("\n*       asked for with --layout\n"));
  run = StartTiny("mine", {"--trials", "0", "--layout", "tp1.pp1.dp4"});
  ASSERT_EQ(run.exit_code, 0) << run.err;
  EXPECT_EQ(Show("mine")["trials"].size(), 1u);
  run = StartTiny("none", {"--trials", "0"});
  EXPECT_EQ(run.exit_code, 2);
  EXPECT_THAT(run.err, HasSubstr("--trials 0"));
  run = StartTiny("none", {"--layout", "tp4.pp1.dp1"});
  EXPECT_EQ(run.exit_code, 2);
  EXPECT_THAT(run.err, HasSubstr("6 attention heads are not a multiple of tp = 4"));
}

TEST_F(SweepCommandsTest, StartChoosesAmongTheBestAndSaysAsWhatItPlans) {
  CommandOutput run = StartTiny("s");
  ASSERT_EQ(run.exit_code, 0) << run.err;
  EXPECT_THAT(run.out, AllOf(HasSubstr("sweep s: at most 10 trials of 128 layouts"),
                             HasSubstr("planned as the worker runs (framework meshwright)")));
  run = StartTiny("t", {"--framework", "megatron", "--format", "json"});
  ASSERT_EQ(run.exit_code, 0) << run.err;
  EXPECT_THAT(json::parse(run.out)["notes"][0].get<std::string>(),
              HasSubstr("planned as framework megatron"));
}

TEST_F(SweepCommandsTest, NamesThatACommandLineCantSayAreRefused) {
  const CommandOutput run =
      Sweep({"start", "--name=-x", "--model", "tinystories-15m", "--cluster", "local-cpu", "--gpus",
             "4", "--seq-len", "64", "--global-batch", "8"});
  EXPECT_EQ(run.exit_code, 2);
  EXPECT_THAT(run.err, HasSubstr("not starting with '.' or '-'"));
  EXPECT_EQ(Sweep({"list"}).out, "no sweeps yet: meshwright sweep start makes one\n");
  // Words of the command line itself can be said.
  for (const char* name : {"list", "show", "trial", "8"}) {
    ASSERT_EQ(StartTiny(name, {"--trials", "1"}).exit_code, 0) << name;
    EXPECT_EQ(Show(name)["sweep"]["name"], name);
  }
}

TEST_F(SweepCommandsTest, NothingIsDrawnOfOneTrial) {
  const CommandOutput run = Sweep({"show", "s", "--why", "1", "--plot", "s.svg"});
  EXPECT_EQ(run.exit_code, 2);
  EXPECT_THAT(run.err, HasSubstr("--plot can't go with --why"));
}

TEST_F(SweepCommandsTest, AMemoryLimitOfNothingIsRefused) {
  const CommandOutput run = StartTiny("s", {"--memory-limit-gib", "0"});
  EXPECT_EQ(run.exit_code, 2);
  EXPECT_THAT(run.err, HasSubstr("must be above 0"));
  EXPECT_EQ(
      RunCommand({"trial", "--model", "tinystories-15m", "--layout", "tp1.pp1.dp1", "--seq-len",
                  "64", "--global-batch", "8", "--devices", "cpu:1", "--memory-limit-gib", "0"})
          .exit_code,
      2);
  const CommandOutput agent = RunCommand(
      {"agent", "--devices", "cpu:1", "--memory-limit-gib", "0", "--server", server_->address()});
  EXPECT_EQ(agent.exit_code, 2);
  EXPECT_THAT(agent.err, HasSubstr("must be above 0"));
}

TEST_F(SweepCommandsTest, CancelledTrialsAreCountedAsCancelled) {
  ASSERT_EQ(StartTiny("s", {"--trials", "3", "--candidates", "3", "--min-gain", "0"}).exit_code, 0);
  CommandOutput run = Sweep({"cancel", "s"});
  EXPECT_THAT(run.out, HasSubstr("sweep s is cancelled by request: 3 cancelled"));
  run = Sweep({"list"});
  EXPECT_THAT(run.out, AllOf(HasSubstr("3 cancelled"), Not(HasSubstr("3/3"))));
  EXPECT_THAT(Sweep({"show", "s"}).out, HasSubstr("cancelled by request: 3 cancelled"));
  EXPECT_EQ(Show("s")["sweep"]["trials_by_state"], json({{"cancelled", 3}}));
  run = Sweep({"watch", "s"});
  EXPECT_EQ(run.exit_code, 1);
  EXPECT_THAT(run.out, AllOf(HasSubstr("0/3"), HasSubstr("cancelled by request: 3 cancelled")));
}

TEST_F(SweepCommandsTest, DeleteTakesWhatHasEndedOrForce) {
  ASSERT_EQ(StartTiny("s", {"--trials", "1"}).exit_code, 0);
  CommandOutput run = Sweep({"delete", "s"});
  EXPECT_EQ(run.exit_code, 1);
  EXPECT_THAT(run.err, HasSubstr("can't be deleted: it is pending"));
  run = Sweep({"delete", "s", "--force"});
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_EQ(run.out, "sweep s is deleted\n");
  EXPECT_EQ(Sweep({"show", "s"}).exit_code, 2);
  ASSERT_EQ(StartTiny("s", {"--trials", "1"}).exit_code, 0);
  ASSERT_EQ(Sweep({"cancel", "s"}).exit_code, 0);
  run = Sweep({"delete", "s", "--format", "json"});
  EXPECT_EQ(json::parse(run.out)["deleted"], "s");
}

TEST_F(SweepCommandsTest, AskHandsOutALayoutWithItsExportAndTellBringsTheResult) {
  CommandOutput run = StartTiny("s", {"--trials", "2", "--candidates", "2", "--min-gain", "0",
                                      "--framework", "megatron", "--ask"});
  ASSERT_EQ(run.exit_code, 0) << run.err;
  EXPECT_THAT(run.out, HasSubstr("meshwright sweep ask s hands out its trials"));
  run = Sweep({"ask", "s", "--to", "megatron", "--lease", "2d", "--format", "json"});
  ASSERT_EQ(run.exit_code, 0) << run.err;
  const json asked = json::parse(run.out);
  EXPECT_EQ(asked["trial"], "s/trials/1");
  EXPECT_THAT(asked["export"]["text"].get<std::string>(), HasSubstr("torchrun"));
  const std::string token = asked["token"];
  const auto tell = [&](std::vector<std::string> more) {
    more.insert(more.begin(), {"tell", "s", "--trial", "1", "--token", token});
    return Sweep(more);
  };
  EXPECT_THAT(tell({}).err, HasSubstr("must be ok, oom or failed"));
  EXPECT_THAT(tell({"--outcome", "ok"}).err, HasSubstr("--step-s"));
  EXPECT_THAT(tell({"--renew", "soon"}).err, HasSubstr("must be a time such as"));
  EXPECT_THAT(tell({"--renew", "3d"}).out, HasSubstr("it is yours until"));
  run = tell({"--outcome", "ok", "--step-s", "0.5", "--peak-bytes", "61e6"});
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_THAT(run.out, HasSubstr("trial 1 of s is ok: 0.5 s per step"));
  EXPECT_EQ(tell({"--outcome", "oom"}).exit_code, 2);
  // In words, with the command that tells the result.
  run = Sweep({"ask", "s"});
  EXPECT_THAT(run.out, AllOf(HasSubstr("trial 2 of s, yours until"),
                             HasSubstr("meshwright sweep tell s --trial 2 --token 1-")));
  EXPECT_THAT(Sweep({"ask", "s"}).err, HasSubstr("has no trial to hand out now"));
  EXPECT_EQ(Show("s")["sweep"]["ask"], true);
}

TEST_F(SweepCommandsTest, RerunTakesTheSameLayoutsUnderANewName) {
  RunTiny("s");
  CommandOutput run = Sweep({"rerun", "s", "--name", "t", "--format", "json"});
  ASSERT_EQ(run.exit_code, 0) << run.err;
  EXPECT_EQ(json::parse(run.out)["rerun_of"], "s");
  const auto agent = Agent();
  Watch("sweeps/t");
  json old_layouts = json::object();
  json new_layouts = json::object();
  const json old_sweep = Show("s");
  const json new_sweep = Show("t");
  for (const json& trial : old_sweep["trials"]) old_layouts[trial["layout"]] = trial["predicted"];
  for (const json& trial : new_sweep["trials"]) new_layouts[trial["layout"]] = trial["predicted"];
  EXPECT_EQ(new_layouts, old_layouts);
  EXPECT_THAT(Sweep({"show", "t"}).out, HasSubstr("the trials of sweep s again"));
  run = Sweep({"rerun", "s"});
  EXPECT_THAT(run.out, HasSubstr("sweep tinystories-15m-3: 4 trials"));
}

// What a sweep measured becomes the profile that the next one is planned with.
TEST_F(SweepCommandsTest, ExportedRowsGoThroughValidateAndCalibrate) {
  RunTiny("s");
  const std::string rows = folder_ + "/rows.csv";
  CommandOutput run = Sweep({"export", "s", "--format", "csv", "-o", rows});
  ASSERT_EQ(run.exit_code, 0) << run.err;
  EXPECT_EQ(run.out, "");
  EXPECT_THAT(run.err, HasSubstr("4 rows of 4 trials"));
  std::ifstream exported(rows);
  std::string header;
  std::getline(exported, header);
  EXPECT_THAT(header, HasSubstr(",schedule,states,loss,"));
  run = RunCommand({"validate", "--measurements", rows, "--format", "json"});
  ASSERT_EQ(run.exit_code, 0) << run.err;
  const json report = json::parse(run.out);
  ASSERT_EQ(report["sweeps"].size(), 1u);
  EXPECT_EQ(report["sweeps"][0]["sweep"], "s");
  EXPECT_EQ(report["total"]["rows"], 4);
  EXPECT_EQ(report["total"]["ok"], 4);
  EXPECT_EQ(report["total"]["modelled"], 4);
  const std::string fitted = folder_ + "/here.json";
  run = RunCommand({"calibrate", "--measurements", rows, "--cluster", "local-cpu", "--framework",
                    "meshwright", "-o", fitted, "--format", "json"});
  ASSERT_EQ(run.exit_code, 0) << run.err;
  EXPECT_EQ(json::parse(run.out)["rows"], 4);
  run = StartTiny("planned-with-it", {"--cluster", fitted});
  EXPECT_EQ(run.exit_code, 2);  // --cluster twice
  run = Sweep({"start", "--model", "tinystories-15m", "--cluster", fitted, "--gpus", "4",
               "--seq-len", "64", "--global-batch", "8"});
  EXPECT_EQ(run.exit_code, 0) << run.err;
}

TEST_F(SweepCommandsTest, ExportLeavesOutWhatHasNoResult) {
  ASSERT_EQ(StartTiny("s", {"--trials", "2"}).exit_code, 0);
  CommandOutput run = Sweep({"export", "s"});
  EXPECT_EQ(run.exit_code, 1);
  EXPECT_THAT(run.err, HasSubstr("no trial with a result yet"));
  {
    const server::TestAgent agent(server_->address(), "a",
                                  [](const trial::TrialPlan& plan, const auto&) {
                                    trial::TrialResult result = server::Measured(plan);
                                    result.outcome = trial::TrialOutcome::kOom;
                                    return result;
                                  });
    Watch("sweeps/s");
  }
  run = Sweep({"export", "s"});
  ASSERT_EQ(run.exit_code, 0) << run.err;
  EXPECT_THAT(run.out, HasSubstr(",oom,,,,,"));
  run = Sweep({"export", "s", "--format", "xml"});
  EXPECT_EQ(run.exit_code, 2);
}

}  // namespace
}  // namespace meshwright::cli
