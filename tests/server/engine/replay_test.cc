#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "absl/strings/str_cat.h"
#include "planner/report/replay_report.h"
#include "server/engine/engine_replay.h"

namespace meshwright::planner {
namespace {

using testing::DoubleEq;
using testing::ElementsAre;
using testing::Optional;

// Rows of a sweep as PredictRow() makes them.
class ReplayTest : public testing::Test {
 protected:
  RowPrediction& Add(std::string_view layout, double predicted_s, double oom_probability,
                     RunOutcome outcome, double step_s = 0.0, OptionalInt gbs = 256) {
    Measurement& measured = measured_.emplace_back();
    measured.sweep = "s";
    measured.gbs = gbs;
    RowPrediction& row = rows_.emplace_back();
    row.row = static_cast<int64_t>(rows_.size()) - 1;
    row.sweep = "s";
    row.outcome = outcome;
    row.layout = ParseLayout(layout).value();
    row.predicted = Prediction{.oom_probability = oom_probability, .step_s = predicted_s};
    if (outcome == RunOutcome::kOk) {
      row.step_s = step_s;
      row.mfu = 0.5 / step_s;
    }
    return row;
  }
  std::vector<SweepReplay> Replay() const {
    return ReplaySweeps(
        measured_, rows_,
        [](auto candidates, const RunRecorded& run, const RelatedSweeps& related_sweeps) {
          return server::RunByEngine(candidates, run, 10, 0.01, related_sweeps);
        });
  }

  std::vector<Measurement> measured_;
  std::vector<RowPrediction> rows_;
};

TEST_F(ReplayTest, CountsTrialsAndWhatTheyFound) {
  Add("tp1.pp1.dp8", 1.0, 0.1, RunOutcome::kOom);
  Add("tp2.pp1.dp4", 1.1, 0.01, RunOutcome::kError);
  Add("tp4.pp1.dp2", 1.2, 0.01, RunOutcome::kOk, 1.25);
  Add("tp8.pp1.dp1", 3.0, 0.01, RunOutcome::kOk, 2.9);
  Add("tp1.pp1.dp8.mb4", 0.5, 0.99, RunOutcome::kOom);
  const SweepReplay replay = Replay().at(0);
  EXPECT_EQ(replay.rows, 5);
  EXPECT_EQ(replay.candidates, 5);
  EXPECT_EQ(replay.ok, 2);
  EXPECT_THAT(replay.trial_rows, ElementsAre(0, 1, 2));
  EXPECT_EQ(replay.trials, 3);
  EXPECT_EQ(replay.oom_trials, 1);
  EXPECT_EQ(replay.error_trials, 1);
  EXPECT_THAT(replay.best_mfu, Optional(DoubleEq(0.4)));
  EXPECT_THAT(replay.found_regret_points, Optional(DoubleEq(0.0)));
  EXPECT_THAT(replay.trials_to_within_1_point, Optional(3));
  EXPECT_EQ(replay.stop, TrialStop::kGain);
  EXPECT_EQ(replay.reasons.size(), 3u);
  // The likely ones first, in their order, and what hardly fits behind them.
  EXPECT_THAT(replay.predicted_order.trials_to_within_1_point, Optional(DoubleEq(3.0)));
  EXPECT_THAT(replay.predicted_order.oom_trials, Optional(DoubleEq(1.0)));
  EXPECT_THAT(replay.random_order.trials_to_within_1_point,
              Optional(testing::AllOf(testing::Ge(1.0), testing::Le(5.0))));
}

TEST_F(ReplayTest, BatchesAreSweepsOfTheirOwn) {
  Add("tp1.pp1.dp8", 1.0, 0.01, RunOutcome::kOk, 1.0, 256);
  Add("tp1.pp1.dp8", 0.5, 0.01, RunOutcome::kOk, 0.5, 128);
  Add("tp2.pp1.dp4", 9.0, 0.01, RunOutcome::kOk, 9.0, 256);
  const std::vector<SweepReplay> replays = Replay();
  ASSERT_EQ(replays.size(), 2u);
  EXPECT_EQ(replays[0].global_batch, 256);
  EXPECT_EQ(replays[0].rows, 2);
  EXPECT_EQ(replays[1].global_batch, 128);
  EXPECT_THAT(replays[1].trial_rows, ElementsAre(1));
}

TEST_F(ReplayTest, WhereNothingFitsNoTrialRuns) {
  Add("tp1.pp1.dp8", 1.0, 0.9, RunOutcome::kOom);
  Add("tp2.pp1.dp4", 1.0, 0.8, RunOutcome::kOom);
  const SweepReplay replay = Replay().at(0);
  EXPECT_EQ(replay.trials, 0);
  EXPECT_EQ(replay.stop, TrialStop::kNothingFits);
  EXPECT_EQ(replay.best_mfu, std::nullopt);
  EXPECT_EQ(replay.found_regret_points, std::nullopt);
  EXPECT_EQ(replay.predicted_order.trials_to_within_1_point, std::nullopt);
}

TEST_F(ReplayTest, RowsThatCantBeRunAgainAreNoCandidatesButCountForTheBest) {
  RowPrediction& unmodelled = Add("tp1.pp1.dp8", 1.0, 0.01, RunOutcome::kOk, 1.0);
  unmodelled.predicted.reset();
  unmodelled.layout.reset();
  Add("tp2.pp1.dp4", 2.0, 0.01, RunOutcome::kOk, 2.0);
  Add("tp4.pp1.dp2", 2.0, 0.01, RunOutcome::kUnknown);
  Add("tp8.pp1.dp1", 2.0, 0.01, RunOutcome::kOk, 2.0).step_s.reset();
  const SweepReplay replay = Replay().at(0);
  EXPECT_EQ(replay.candidates, 1);
  EXPECT_THAT(replay.trial_rows, ElementsAre(1));
  EXPECT_THAT(replay.found_regret_points, Optional(DoubleEq(25.0)));
  EXPECT_EQ(replay.trials_to_within_1_point, std::nullopt);
  EXPECT_EQ(replay.random_order.trials_to_within_1_point, std::nullopt);
}

TEST_F(ReplayTest, ResultsOfRowsThatDidNotRunDecideNothing) {
  std::mt19937_64 random(7);
  std::normal_distribution<double> error(0.0, 0.15);
  for (int tp = 1; tp <= 8; tp *= 2) {
    for (int micro_batch = 1; micro_batch <= 16; micro_batch *= 2) {
      const std::string layout = absl::StrCat("tp", tp, ".pp1.dp", 8 / tp, ".mb", micro_batch);
      const double predicted_s = 1.0 + 0.05 * tp + 0.02 * micro_batch;
      const bool fits = micro_batch < 8 * tp;
      Add(layout, predicted_s, fits ? 0.1 : 0.9, fits ? RunOutcome::kOk : RunOutcome::kOom,
          predicted_s * std::exp(error(random)));
    }
  }
  const SweepReplay before = Replay().at(0);
  ASSERT_GE(before.trials, 2);
  ASSERT_LT(before.trials, before.candidates);
  std::vector<size_t> others;
  for (size_t i = 0; i < rows_.size(); ++i) {
    if (std::count(before.trial_rows.begin(), before.trial_rows.end(), rows_[i].row) == 0) {
      others.push_back(i);
    }
  }
  for (int seed = 0; seed < 50; ++seed) {
    std::vector<size_t> from = others;
    std::shuffle(from.begin(), from.end(), random);
    const std::vector<RowPrediction> rows = rows_;
    for (size_t i = 0; i < others.size(); ++i) {
      rows_[others[i]].outcome = rows[from[i]].outcome;
      rows_[others[i]].step_s = rows[from[i]].step_s;
      rows_[others[i]].mfu = rows[from[i]].mfu;
    }
    const SweepReplay after = Replay().at(0);
    EXPECT_EQ(after.trial_rows, before.trial_rows);
    EXPECT_EQ(after.reasons, before.reasons);
    EXPECT_EQ(after.stop_reason, before.stop_reason);
  }
}

TEST_F(ReplayTest, TheTotalIsOfSweepsThatAreWorthASearch) {
  Add("tp1.pp1.dp8", 1.0, 0.01, RunOutcome::kOk, 1.0);
  EXPECT_EQ(TotalOf(Replay()).sweeps, 0);
  for (int i = 0; i < 19; ++i) Add("tp8.pp1.dp1", 9.0, 0.01, RunOutcome::kOk, 9.0);
  const ReplayTotal total = TotalOf(Replay());
  EXPECT_EQ(total.sweeps, 1);
  EXPECT_EQ(total.found, 1);
  EXPECT_THAT(total.mean_trials, Optional(DoubleEq(1.0)));
  const auto json = ReplayToJson(Replay());
  EXPECT_EQ(json["total"]["found"], 1);
  EXPECT_EQ(json["sweeps"][0]["stop"], "gain");
  EXPECT_EQ(json["sweeps"][0]["trial_rows"], nlohmann::ordered_json::array({0}));
}

}  // namespace
}  // namespace meshwright::planner
