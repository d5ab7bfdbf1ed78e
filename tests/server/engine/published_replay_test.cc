// How few trials find the best layout of published sweeps, where those are there, with the shipped
// presets. The profiles are fitted to most of these runs; `tools/leave_one_out --replay` fits them
// anew without each sweep.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <iostream>
#include <iterator>
#include <sstream>

#include "server/engine/engine_replay.h"
#include "tests/planner/measurements_folder.h"

namespace meshwright::planner {
namespace {

constexpr const char* kFiles[] = {"hagemann.csv", "nanotron_ultrascale.csv", "vtrain.csv"};

bool HasFiles() {
  return std::all_of(std::begin(kFiles), std::end(kFiles), [](const char* name) {
    return std::filesystem::exists(MeasurementsFolder() / name);
  });
}

// All sweeps of the files.
std::vector<SweepReplay> ReplayPublished(bool with_related_sweeps) {
  const MeasurementPresets presets = LoadMeasurementPresets(2).value();
  std::vector<Measurement> runs;
  for (const char* name : kFiles) {
    std::ostringstream text;
    text << std::ifstream(MeasurementsFolder() / name, std::ios::binary).rdbuf();
    const std::vector<Measurement> read = ParseMeasurements(text.str()).value();
    runs.insert(runs.end(), read.begin(), read.end());
  }
  std::vector<RowPrediction> rows;
  rows.reserve(runs.size());
  for (const Measurement& run : runs) {
    rows.push_back(PredictRow(static_cast<int64_t>(rows.size()), run, presets));
  }
  return ReplaySweeps(
      runs, rows,
      [](auto candidates, const RunRecorded& run, const RelatedSweeps& related_sweeps) {
        return server::RunByEngine(candidates, run, 10, 0.01, related_sweeps);
      },
      with_related_sweeps);
}

class PublishedReplay : public testing::Test {
 protected:
  void SetUp() override {
    if (HasFiles()) return;
    // CTest shows the test as skipped by this line.
    std::cout << "[  SKIPPED ] the whole file: no measurements in " << MeasurementsFolder() << "\n";
    GTEST_SKIP() << "MESHWRIGHT_MEASUREMENTS names a folder with them";
  }
};

TEST_F(PublishedReplay, FewTrialsFindTheBest) {
  const std::vector<SweepReplay> sweeps = ReplayPublished(/*with_related_sweeps=*/false);
  const ReplayTotal total = TotalOf(sweeps);
  EXPECT_EQ(total.sweeps, 43);
  EXPECT_GE(total.found, 36);
  EXPECT_LE(*total.worst_regret_points, 7.0);
  EXPECT_LE(*total.mean_trials, 5.0);
  EXPECT_LE(total.most_trials, 10);
  for (const SweepReplay& sweep : sweeps) {
    EXPECT_LE(sweep.oom_trials, 1) << sweep.sweep;
    if (sweep.ok > 0 || sweep.rows < kLeastRows) continue;
    EXPECT_EQ(sweep.trials, 0) << sweep.sweep;
  }
}

// They saved half a trial of the 29 sweeps that the priors were made from, and save none of the 43
// that there are.
TEST_F(PublishedReplay, WithWhatRelatedSweepsFoundNoFewerAreFound) {
  const ReplayTotal alone = TotalOf(ReplayPublished(/*with_related_sweeps=*/false));
  const ReplayTotal with = TotalOf(ReplayPublished(/*with_related_sweeps=*/true));
  EXPECT_EQ(with.sweeps, alone.sweeps);
  EXPECT_GE(with.found, alone.found);
  EXPECT_LE(*with.worst_regret_points, *alone.worst_regret_points + 1e-9);
  EXPECT_LE(*with.mean_trials, *alone.mean_trials + 0.1);
  EXPECT_LE(with.most_trials, alone.most_trials + 1);
  EXPECT_LE(with.most_oom_trials, alone.most_oom_trials);
}

}  // namespace
}  // namespace meshwright::planner
