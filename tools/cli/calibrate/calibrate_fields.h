// CalibrationText declares the fields that `meshwright calibrate` prints (planner/codec/fields.h).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "planner/catalog/calibration_fields.h"
#include "planner/codec/fields.h"
#include "planner/report/validation_fields.h"

namespace meshwright::cli {

struct CalibratedSweep {
  std::string sweep;
  int64_t rows = 0;
  double step_time_mape = 0.0;
};

template <typename Visitor>
void VisitFields(const CalibratedSweep& sweep, Visitor& visit) {
  visit({"sweep", "Name of the sweep"}, sweep.sweep);
  visit({"rows", "Rows of it, a count"}, sweep.rows);
  visit({"step_time_mape", "Mean of |predicted / measured - 1|"}, sweep.step_time_mape);
}

struct Residual {
  std::string sweep;
  std::string layout;
  double step_s = 0.0;
  double log_error = 0.0;
};

template <typename Visitor>
void VisitFields(const Residual& residual, Visitor& visit) {
  visit({"sweep", "Name of the sweep"}, residual.sweep);
  visit({"layout", "Text form of the layout"}, residual.layout);
  visit({"step_s", "Measured, seconds"}, residual.step_s);
  visit({"log_error", "log(predicted / measured)"}, residual.log_error);
}

struct CalibrationText {
  int64_t rows = 0;
  int64_t other_rows = 0;
  int64_t unmeasured_rows = 0;
  int64_t unmodelled_rows = 0;
  planner::Refusals refusals;
  planner::Calibration cluster;
  planner::Calibration framework;
  std::vector<std::string> undecided;
  std::vector<std::string> moved_undecided;
  std::vector<std::string> moved_to_bound;
  double step_time_sigma = 0.0;
  double step_time_sigma_before = 0.0;
  std::vector<CalibratedSweep> sweeps;
  std::vector<Residual> residuals;
};

template <typename Visitor>
void VisitFields(const CalibrationText& text, Visitor& visit) {
  visit({"rows", "Measured steps that took part, a count"}, text.rows);
  visit({"other_rows", "Rows of another device, framework or sweep, a count"}, text.other_rows);
  visit({"unmeasured_rows", "Rows without a step time, a count"}, text.unmeasured_rows);
  visit({"unmodelled_rows", "Rows that could not be modelled, a count"}, text.unmodelled_rows);
  VisitFields(text.refusals, visit);
  visit({"cluster", "The fit of the cluster's constants"}, text.cluster);
  visit({"framework", "The fit of the framework profile's constants"}, text.framework);
  visit({"undecided",
         "Constants that the rows did not decide; near their priors, but for those of the next "
         "two lists"},
        text.undecided);
  visit({"moved_undecided",
         "Those of undecided that moved by more than 3 % and are inside their bounds"},
        text.moved_undecided);
  visit({"moved_to_bound", "Those of undecided that moved by more than 3 % and ended at a bound"},
        text.moved_to_bound);
  visit({"step_time_sigma", "Standard deviation of log(measured / predicted)"},
        text.step_time_sigma);
  visit({"step_time_sigma_before", "step_time_sigma of what the fit started from"},
        text.step_time_sigma_before);
  visit({"sweeps", "By sweep"}, text.sweeps);
  visit({"residuals", "By row"}, text.residuals);
}

}  // namespace meshwright::cli
