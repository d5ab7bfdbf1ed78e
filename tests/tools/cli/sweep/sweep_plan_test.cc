// What sweeps that choose their trials say of it: `sweep start`, `plan`, `show --why` and `watch`
// against a server in this process, whose agents' results are invented.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <map>

#include "nlohmann/json.hpp"
#include "tests/server/server_fixture.h"
#include "tests/tools/command_runner.h"

namespace meshwright::cli {
namespace {

using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;
using testing::MatchesRegex;
using testing::Not;

class SweepPlanTest : public server::ServerFixture {
 protected:
  CommandOutput Sweep(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "sweep");
    arguments.insert(arguments.end(), {"--server", server_->address()});
    return RunCommand(arguments);
  }
  json SweepJson(std::vector<std::string> arguments) {
    arguments.insert(arguments.end(), {"--format", "json"});
    const CommandOutput run = Sweep(arguments);
    EXPECT_EQ(run.exit_code, 0) << run.err;
    return json::parse(run.out);
  }
  CommandOutput Start(const std::string& name, const std::vector<std::string>& more = {},
                      const std::string& seq_len = "64") {
    std::vector<std::string> arguments = {
        "start",  "--name", name,        "--model", "tinystories-15m", "--cluster", "local-cpu",
        "--gpus", "4",      "--seq-len", seq_len,   "--global-batch",  "8"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return Sweep(arguments);
  }
  // An agent on which every trial takes as long as its estimate says times `factor`.
  std::unique_ptr<server::TestAgent> Agent(const std::string& sweep, double factor) {
    const json plan = SweepJson({"plan", sweep});
    for (const json& candidate : plan["candidates"]) {
      steps_s_[candidate["layout"]] = factor * candidate["predicted_step_s"].get<double>();
    }
    return std::make_unique<server::TestAgent>(
        server_->address(), "a",
        [this](const trial::TrialPlan& trial, const trial::TrialRunnerOptions&) {
          trial::TrialResult result = server::Measured(trial);
          result.step_s = steps_s_.at(planner::FormatLayout(trial.layout));
          result.worker_version = "test";
          ++runs_;
          return result;
        });
  }

  std::map<std::string, double> steps_s_;  // by layout
  std::atomic<int> runs_{0};
};

TEST_F(SweepPlanTest, StopsByItselfAndSaysWhy) {
  const CommandOutput started = Start("s");
  ASSERT_EQ(started.exit_code, 0) << started.err;
  EXPECT_THAT(started.out, HasSubstr("sweep s: at most 10 trials of 128 layouts, until none is "
                                     "expected to gain 1.0 %"));
  const auto agent = Agent("s", 1.3);
  const CommandOutput watched = Sweep({"watch", "s"});
  EXPECT_EQ(watched.exit_code, 0) << watched.err;
  EXPECT_THAT(watched.out,
              AllOf(HasSubstr("the fastest by its estimate"), HasSubstr("may gain"),
                    HasSubstr("best "), HasSubstr(" more, tp"),
                    HasSubstr("no other layout is expected to be faster than the best by 1.0 %")));
  const json shown = SweepJson({"show", "s"});
  EXPECT_EQ(shown["sweep"]["state"], "finished");
  EXPECT_EQ(shown["sweep"]["candidates"], 128);
  EXPECT_EQ(shown["sweep"]["max_trials"], 10);
  EXPECT_EQ(shown["sweep"]["min_gain"], 0.01);
  EXPECT_GE(shown["trials"].size(), 2u);
  EXPECT_LT(shown["trials"].size(), 10u);
  EXPECT_THAT(Sweep({"show", "s"}).out,
              HasSubstr(" of 128 layouts were chosen for trials (the limit is 10)"));
}

TEST_F(SweepPlanTest, PlanSaysWhatWouldRunNextBeforeAndAfter) {
  ASSERT_EQ(Start("s", {"--trials", "2", "--min-gain", "0"}).exit_code, 0);
  json plan = SweepJson({"plan", "s", "--trials", "2"});
  ASSERT_EQ(plan["next"].size(), 2u);
  EXPECT_EQ(plan["next"][0]["number"], 1);
  EXPECT_TRUE(plan["next"][0]["expected_gain"].is_null());
  EXPECT_GT(plan["next"][1]["expected_gain"].get<double>(), 0.0);
  EXPECT_TRUE(plan["stop_reason"].is_null());
  EXPECT_TRUE(plan["best_step_s"].is_null());
  EXPECT_THAT(Sweep({"plan", "s"}).out,
              AllOf(HasSubstr("1. tp"), HasSubstr("candidate 1: the fastest by its estimate"),
                    HasSubstr("Then the sweep stops: the limit of 2 trials is reached")));
  {
    const auto agent = Agent("s", 2.0);
    Watch("sweeps/s");
  }
  plan = SweepJson({"plan", "s"});
  EXPECT_EQ(plan["next"].size(), 0u);
  EXPECT_THAT(plan["stop_reason"].get<std::string>(),
              HasSubstr("the limit of 2 trials is reached"));
  EXPECT_GT(plan["best_step_s"].get<double>(), 0.0);
  // What is slow by half of its estimate speaks of the others, too.
  int began = 0;
  for (const json& candidate : plan["candidates"]) {
    began += candidate["state"].is_null() ? 0 : 1;
    EXPECT_GT(candidate["step_s"].get<double>(), 1.3 * candidate["predicted_step_s"].get<double>());
  }
  EXPECT_EQ(began, 2);
  EXPECT_THAT(Sweep({"plan", "s"}).out, HasSubstr("No trial runs next: "));
  EXPECT_EQ(Sweep({"plan", "s", "--trials", "0"}).exit_code, 2);
  EXPECT_EQ(Sweep({"plan", "t"}).exit_code, 2);
}

TEST_F(SweepPlanTest, WhySaysWhatDecidedOfEachLayout) {
  ASSERT_EQ(Start("s", {"--trials", "1", "--layout", "tp1.pp1.dp4.mb1.rc=full"}).exit_code, 0);
  {
    const auto agent = Agent("s", 1.0);
    Watch("sweeps/s");
  }
  std::string chosen;
  std::string named;
  const json shown = SweepJson({"show", "s"});
  for (const json& trial : shown["trials"]) {
    (trial["requested"].get<bool>() ? named : chosen) =
        trial["trial"].get<std::string>().substr(std::string("s/trials/").size());
  }
  EXPECT_THAT(Sweep({"show", "s", "--why", chosen}).out,
              AllOf(HasSubstr("trial " + chosen + ", tp"), HasSubstr(": ok ("),
                    HasSubstr("attempt 1: expected to be faster than the best by"),
                    HasSubstr("agent a has the 4 cpu ranks free")));
  EXPECT_THAT(Sweep({"show", "s", "--why", named}).out,
              AllOf(HasSubstr("the request named this layout"),
                    HasSubstr("attempt 1: number " + named + " by predicted MFU")));
  const std::string other = named == "99" ? "98" : "99";
  EXPECT_THAT(Sweep({"show", "s", "--why", other}).out,
              AllOf(HasSubstr("candidate " + other), HasSubstr("has not run"),
                    HasSubstr("expected to find it faster than the best"),
                    HasSubstr("it does not run: 2 trials: 2 ok; the limit of 2")));
  const json why = SweepJson({"show", "s", "--why", chosen});
  EXPECT_EQ(why["decisions"][0]["policy_version"], server::kPlacementPolicyVersion);
  EXPECT_EQ(why["belief"]["state"], "ok");
  const CommandOutput unknown = Sweep({"show", "s", "--why", "9999"});
  EXPECT_EQ(unknown.exit_code, 2);
  EXPECT_THAT(unknown.err, HasSubstr("--why 9999: sweep s has no layout of this number"));
}

TEST_F(SweepPlanTest, WhatWasMeasuredBeforeIsNotRunAgainUnlessThatIsWanted) {
  ASSERT_EQ(Start("s").exit_code, 0);
  const auto agent = Agent("s", 1.3);
  Watch("sweeps/s");
  const int ran = runs_;
  const std::string count = std::to_string(ran);
  ASSERT_GE(ran, 2);
  const CommandOutput again = Start("again");
  EXPECT_THAT(again.out, HasSubstr(", " + count + " with the results of earlier sweeps"));
  const CommandOutput watched = Sweep({"watch", "again"});
  EXPECT_EQ(watched.exit_code, 0) << watched.err;
  EXPECT_THAT(watched.out,
              AllOf(HasSubstr(count + "/" + count + " " + count + " trials"),
                    HasSubstr("no other layout is expected to be faster than the best by 1.0 %"),
                    HasSubstr("fastest: trial ")));
  EXPECT_EQ(runs_, ran);
  const json shown = SweepJson({"show", "again"});
  EXPECT_EQ(shown["sweep"]["trials_reused"], ran);
  const std::string from = shown["trials"][0]["reused_from"];
  EXPECT_THAT(from, MatchesRegex("s/trials/[0-9]+"));
  EXPECT_EQ(shown["trials"][0]["step_s"], SweepJson({"show", "s"})["trials"][0]["step_s"]);
  EXPECT_THAT(Sweep({"show", "again"}).out,
              HasSubstr("\n+       the result of an earlier sweep's trial"));
  const std::string number = from.substr(std::string("s/trials/").size());
  EXPECT_THAT(Sweep({"show", "again", "--why", number}).out,
              HasSubstr("it has the result of " + from));
  EXPECT_EQ(SweepJson({"show", "again", "--why", number})["reused_from"], from);
  // Neither is another seed's result, nor are measurements exported twice.
  EXPECT_THAT(Start("seed", {"--seed", "7"}).out, Not(HasSubstr("earlier sweeps")));
  EXPECT_THAT(Sweep({"export", "again"}).err,
              HasSubstr("every result of sweep again is an earlier"));
  ASSERT_EQ(Start("fresh", {"--fresh", "--trials", count}).exit_code, 0);
  Watch("sweeps/fresh");
  EXPECT_GT(runs_, ran);
}

TEST_F(SweepPlanTest, ASweepLikeItBeginsWithWhatOneBeforeItMeasured) {
  ASSERT_EQ(Start("s").exit_code, 0);
  {
    const auto agent = Agent("s", 3.0);
    Watch("sweeps/s");
  }
  ASSERT_EQ(Start("t", {}, "128").exit_code, 0);
  const json plan = SweepJson({"plan", "t"});
  EXPECT_EQ(plan["related_sweeps"], json::array({"s"}));
  EXPECT_GE(plan["related_results"].get<int>(), 2);
  for (const json& candidate : plan["candidates"]) {
    EXPECT_GT(candidate["step_s"].get<double>(), 1.5 * candidate["predicted_step_s"].get<double>());
  }
  const std::string clause =
      std::to_string(plan["related_results"].get<int>()) + " results of 1 related sweep, s";
  EXPECT_THAT(Sweep({"plan", "t"}).out, AllOf(HasSubstr("Estimates are corrected by " + clause),
                                              HasSubstr("; estimates are corrected by ")));
  EXPECT_THAT(Sweep({"show", "t", "--why", "1"}).out, HasSubstr("corrected by " + clause));
  ASSERT_EQ(Start("u", {"--fresh"}, "128").exit_code, 0);
  EXPECT_EQ(SweepJson({"plan", "u"})["related_results"], 0);
}

TEST_F(SweepPlanTest, ACancelledSweepThatChoseNothingSaysSo) {
  ASSERT_EQ(Start("s").exit_code, 0);
  EXPECT_THAT(Sweep({"cancel", "s"}).out,
              HasSubstr("sweep s is cancelled by request: no trial had begun"));
  const CommandOutput rerun = Sweep({"rerun", "s"});
  EXPECT_EQ(rerun.exit_code, 1);
  EXPECT_THAT(rerun.err, HasSubstr("sweep s has no trial to run again"));
}

}  // namespace
}  // namespace meshwright::cli
