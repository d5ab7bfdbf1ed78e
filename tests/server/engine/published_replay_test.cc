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

TEST(PublishedReplay, FewTrialsFindTheBest) {
  const auto there = [](const char* name) {
    return std::filesystem::exists(MeasurementsFolder() / name);
  };
  if (!std::all_of(std::begin(kFiles), std::end(kFiles), there)) {
    // CTest shows the test as skipped by this line.
    std::cout << "[  SKIPPED ] the whole file: no measurements in " << MeasurementsFolder() << "\n";
    GTEST_SKIP() << "MESHWRIGHT_MEASUREMENTS names a folder with them";
  }
  const MeasurementPresets presets = LoadMeasurementPresets(2).value();
  std::vector<Measurement> runs;
  for (const char* name : kFiles) {
    std::ostringstream text;
    text << std::ifstream(MeasurementsFolder() / name, std::ios::binary).rdbuf();
    const std::vector<Measurement> read = ParseMeasurements(text.str()).value();
    runs.insert(runs.end(), read.begin(), read.end());
  }
  std::vector<RowPrediction> rows;
  for (const Measurement& run : runs) {
    rows.push_back(PredictRow(static_cast<int64_t>(rows.size()), run, presets));
  }
  const std::vector<SweepReplay> sweeps =
      ReplaySweeps(runs, rows, [](auto candidates, const RunRecorded& run) {
        return server::RunByEngine(candidates, run, 10, 0.01);
      });
  const ReplayTotal total = TotalOf(sweeps);
  EXPECT_EQ(total.sweeps, 29);
  EXPECT_GE(total.found, 27);
  EXPECT_LE(*total.worst_regret_points, 3.5);
  EXPECT_LE(*total.mean_trials, 5.0);
  EXPECT_LE(total.most_trials, 10);
  for (const SweepReplay& sweep : sweeps) {
    EXPECT_LE(sweep.oom_trials, 1) << sweep.sweep;
    if (sweep.ok > 0 || sweep.rows < kLeastRows) continue;
    EXPECT_EQ(sweep.trials, 0) << sweep.sweep;
  }
}

}  // namespace
}  // namespace meshwright::planner
