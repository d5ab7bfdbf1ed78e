// `meshwright sweep compare` against a server in this process, whose agents' results are invented.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "nlohmann/json.hpp"
#include "tests/server/server_fixture.h"
#include "tests/tools/command_runner.h"
#include "tests/tools/golden.h"
#include "tests/tools/json_schema.h"

namespace meshwright::cli {
namespace {

using nlohmann::json;
using testing::HasSubstr;

// Step by layout, seconds; one of 0 runs out of memory.
using Steps = std::vector<std::pair<std::string, double>>;

class SweepCompareTest : public server::ServerFixture {
 protected:
  CommandOutput Sweep(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "sweep");
    arguments.insert(arguments.end(), {"--server", server_->address()});
    return RunCommand(arguments);
  }
  // A sweep of these layouts, which has ended.
  void Run(const std::string& name, const Steps& steps, const std::vector<std::string>& more = {}) {
    std::vector<std::string> arguments = {
        "start",    "--name",    name,       "--model", "tinystories-15m",
        "--gpus",   "4",         "--trials", "0",       "--global-batch",
        "8",        "--seq-len", "64",       "--fresh", "--cluster",
        "local-cpu"};
    for (const auto& [layout, step_s] : steps) {
      arguments.insert(arguments.end(), {"--layout", layout});
    }
    arguments.insert(arguments.end(), more.begin(), more.end());
    const CommandOutput run = Sweep(arguments);
    ASSERT_EQ(run.exit_code, 0) << run.err;
    const server::TestAgent agent(
        server_->address(), "a", [&](const trial::TrialPlan& plan, const auto&) {
          trial::TrialResult result = server::Measured(plan);
          for (const auto& [layout, step_s] : steps) {
            if (*planner::ParseLayout(layout) == plan.layout) result.step_s = step_s;
          }
          result.step_interval = trial::MedianInterval{result.step_s - 0.02, result.step_s + 0.02};
          if (result.step_s == 0.0) {
            result.outcome = trial::TrialOutcome::kOom;
            result.step_interval.reset();
          }
          return result;
        });
    Watch("sweeps/" + name);
  }
  void RunBoth() {
    Run("before", {{"tp1.pp1.dp4", 0.5},
                   {"tp2.pp1.dp2", 0.6},
                   {"tp1.pp2.dp2", 0.7},
                   {"tp2.pp2.dp1", 0.8},
                   {"tp1.pp1.dp4.mb2", 0.55}});
    Run("after",
        {{"tp1.pp1.dp4", 0.4},
         {"tp2.pp1.dp2", 0.61},
         {"tp1.pp2.dp2", 0.9},
         {"tp2.pp2.dp1", 0.0},
         {"tp1.pp1.dp4.zero1", 0.45}},
        {"--memory-limit-gib", "2", "--steps", "8"});
  }
};

TEST_F(SweepCompareTest, SaysWhatDiffersWhatBecameFasterAndWhatOnlyOneRan) {
  RunBoth();
  const CommandOutput text = Sweep({"compare", "before", "after"});
  ASSERT_EQ(text.exit_code, 0) << text.err;
  ExpectGolden("sweep_compare.txt", text.out);
}

TEST_F(SweepCompareTest, JsonIsWhatTheSchemaSays) {
  RunBoth();
  const CommandOutput run = Sweep({"compare", "before", "sweeps/after", "--format", "json"});
  ASSERT_EQ(run.exit_code, 0) << run.err;
  const json found = json::parse(run.out);
  EXPECT_EQ(SchemaProblems("sweep_compare", found), "") << run.out;
  EXPECT_EQ(found["b"], "after");
  EXPECT_EQ(found["counts"]["faster"], 1);
  EXPECT_EQ(found["counts"]["slower"], 1);
  EXPECT_EQ(found["counts"]["within_noise"], 1);
  EXPECT_EQ(found["counts"]["outcome_changed"], 1);
  EXPECT_EQ(found["best"]["noise"], "outside");
  EXPECT_EQ(found["only_a"]["layouts"], 1);
  EXPECT_EQ(found["only_b"]["best"]["step_s"], 0.45);
  // Nothing was measured in one of them.
  ASSERT_EQ(Sweep({"start", "--name", "empty", "--model", "tinystories-15m", "--cluster",
                   "local-cpu", "--gpus", "4", "--seq-len", "64", "--global-batch", "8"})
                .exit_code,
            0);
  const CommandOutput half = Sweep({"compare", "before", "empty", "--format", "json"});
  EXPECT_EQ(SchemaProblems("sweep_compare", json::parse(half.out)), "") << half.out;
}

TEST_F(SweepCompareTest, UnknownSweepsAndTheSameOneTwiceAreRefused) {
  Run("before", {{"tp1.pp1.dp4", 0.5}});
  CommandOutput run = Sweep({"compare", "before", "sweeps/before"});
  EXPECT_EQ(run.exit_code, 2);
  EXPECT_THAT(run.err, HasSubstr("B before: must be another sweep than A"));
  run = Sweep({"compare", "before", "befor"});
  EXPECT_EQ(run.exit_code, 2);
  EXPECT_THAT(run.err, HasSubstr("nearest: before"));
  EXPECT_EQ(Sweep({"compare", "before"}).exit_code, 2);
}

}  // namespace
}  // namespace meshwright::cli
