// LeftOutFile says how well the presets predict a file of published runs to which none of them was
// fitted: the file was left out of every fit and then predicted.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "planner/codec/fields.h"

namespace meshwright::planner {

// The steps of a file's runs that are at one level of evidence.
struct LevelShare {
  std::string level;    // a name of kEvidenceLevelNames (planner/estimate/step_interval.h)
  int64_t rows = 0;     // runs
  double inside = 0.0;  // share of these runs whose step lies in the predicted 80 % interval

  friend bool operator==(const LevelShare&, const LevelShare&) = default;
};

template <ConstOr<LevelShare> Share, typename Visitor>
void VisitFields(Share& share, Visitor& visit) {
  visit("level", share.level);
  visit("rows", share.rows);
  visit("inside", share.inside);
}

// All errors are |predicted / measured - 1| of a step time.
struct LeftOutFile {
  std::string name;
  int64_t rows = 0;  // runs with a step time
  double median_error = 0.0;
  double mean_error = 0.0;
  double mean_log_ratio = 0.0;  // mean of log(measured / predicted)
  std::vector<LevelShare> levels;
  // Runs with a measured memory peak, and the share of them whose peak lies in the predicted 80 %
  // interval. Absent if no peak was measured.
  std::optional<int64_t> peaks;
  std::optional<double> peaks_inside;
  // The runs that are left after one run of each of the file's sweeps was given, and their median
  // error. Absent if no run is left.
  std::optional<int64_t> rows_after_run;
  std::optional<double> median_error_after_run;

  friend bool operator==(const LeftOutFile&, const LeftOutFile&) = default;
};

template <ConstOr<LeftOutFile> File, typename Visitor>
void VisitFields(File& file, Visitor& visit) {
  visit("name", file.name);
  visit("rows", file.rows);
  visit("median_error", file.median_error);
  visit("mean_error", file.mean_error);
  visit("mean_log_ratio", file.mean_log_ratio);
  visit("levels", file.levels);
  visit("peaks", file.peaks);
  visit("peaks_inside", file.peaks_inside);
  visit("rows_after_run", file.rows_after_run);
  visit("median_error_after_run", file.median_error_after_run);
}

// Returns the files of planner/data/left_out.json, which tools/leave_one_out --files --write
// writes.
std::vector<LeftOutFile> LeftOutFiles();

}  // namespace meshwright::planner
