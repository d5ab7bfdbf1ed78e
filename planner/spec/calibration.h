// Where the constants of a profile come from: a fit to measured runs.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace meshwright::planner {

// One fitted constant. Standard deviations are those of the logarithm, so relative.
struct CalibratedConstant {
  std::string name;  // the profile's field
  double prior = 0.0;
  double prior_sigma = 0.0;
  double value = 0.0;
  double sigma = 0.0;     // as large as prior_sigma where the data say nothing about it
  bool at_bound = false;  // the data ask for more than is physical: a term may be missing

  friend bool operator==(const CalibratedConstant&, const CalibratedConstant&) = default;
};

struct Calibration {
  std::string command;     // that made the profile; empty: not fitted
  int64_t rows = 0;        // measured steps that were used
  int64_t prior_rows = 0;  // behind the fit that this one started from; 0: from data sheets
  std::vector<std::string> sources;  // who measured `rows`, each once
  // Share of the measured step times that the fit misses by less: |predicted / measured - 1|.
  double median_error = 0.0;
  double mean_error = 0.0;
  std::vector<CalibratedConstant> constants;

  friend bool operator==(const Calibration&, const Calibration&) = default;
};

}  // namespace meshwright::planner
