// Calibration records how the constants of a profile were fitted to measured runs.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace meshwright::planner {

// One fitted constant. Standard deviations are relative: they are standard deviations of the
// constant's logarithm.
struct CalibratedConstant {
  std::string name;  // the profile's field
  double prior = 0.0;
  double prior_sigma = 0.0;
  double value = 0.0;
  double sigma = 0.0;     // equals prior_sigma if the data say nothing about the constant
  bool at_bound = false;  // the fit ended at a physical limit: the model may lack a term

  friend bool operator==(const CalibratedConstant&, const CalibratedConstant&) = default;
};

struct Calibration {
  std::string command;  // the command that made the profile; empty if not fitted
  int64_t rows = 0;     // measured steps that were used
  // Measured steps of the fit from which this fit started; 0 if it started from data sheets.
  int64_t prior_rows = 0;
  std::vector<std::string> sources;  // who measured `rows`, without duplicates
  // Errors of the measured step times: |predicted / measured - 1|.
  double median_error = 0.0;
  double mean_error = 0.0;
  std::vector<CalibratedConstant> constants;

  friend bool operator==(const Calibration&, const Calibration&) = default;
};

}  // namespace meshwright::planner
