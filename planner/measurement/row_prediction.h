// RowPrediction holds the measured figures of one run and the planner's predictions for it, in
// comparable units.
//
// Measured figures are computed with the same model shape and by the same definitions as predicted
// ones. A difference is therefore an error of the estimate, not an effect of how the source counts.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "planner/correction/error_sigma.h"
#include "planner/correction/peak_belief.h"
#include "planner/estimate/step_interval.h"
#include "planner/layout/layout.h"
#include "planner/measurement/measurement.h"
#include "planner/measurement/measurement_presets.h"
#include "planner/measurement/planned_row.h"

namespace meshwright::planner {

struct Prediction {
  // The predicted peak, counted as the source counts its peak_mem_gib (allocated or reserved).
  int64_t peak_bytes = 0;
  // 80 % of such runs have a peak between peak_low_bytes and peak_high_bytes.
  int64_t peak_low_bytes = 0;
  int64_t peak_high_bytes = 0;
  double fraction_of_device = 0.0;  // filled share of the fullest device's memory, with overheads
  double oom_probability = 0.0;
  ErrorSigma step_error = {};
  ErrorSigma peak_error = {};
  double step_s = 0.0;
  // How near the row is to the runs that the presets were fitted to.
  EvidenceLevel level = EvidenceLevel::kNeither;
  double step_low_s = 0.0;
  double step_high_s = 0.0;
  double mfu = 0.0;                      // PaLM's definition
  double tokens_per_s_per_device = 0.0;  // rows are ranked by it, because batches may differ
};

struct RowPrediction {
  int64_t row = 0;   // number of the data line, from 0 over all files in the order given
  std::string file;  // Measurement::file
  int64_t line = 0;
  std::string sweep;
  // Identifies the set of layouts among which a user would have chosen the row's layout: the rows
  // with the same sweep, model shape, sequence length, global batch and number of devices
  // (planner/measurement/validation.h). Empty for a row whose time says nothing about its layout.
  std::string choice;
  RunOutcome outcome = RunOutcome::kUnknown;
  std::optional<Prediction> predicted;
  std::optional<Layout> layout;  // the layout of `predicted`; set if `predicted` is
  // The number format and the options of the run, as a text.
  std::string options;
  // The framework's probability of running out of memory over the estimated peak, as fitted to the
  // sources of its presets.
  OomCurve oom = {};
  std::string reason;  // why there is no prediction; empty if there is one
  // If true, the row's measured time corrected the predictions of its sweep's other rows
  // (planner/replay/measured_first.h). Reports leave such a row out of their errors.
  bool given = false;
  std::string subject;  // the subject of `reason`: a column, a rule or kUnreadable

  // The following members are set only for runs that succeeded (kOk).
  OptionalNumber step_s;  // step_time_s, else from tokens_per_s_per_gpu or tflops_per_gpu
  OptionalNumber tokens_per_s_per_device;
  // Set if model, cluster and batch are known. This MFU is computed from the step time by PaLM's
  // definition. If the source gives no time, the MFU is the source's own.
  OptionalNumber mfu;
  OptionalNumber peak_bytes;
};

// Returns the measured figures of a row, without a prediction. `plan` is PlanRow() of the row. If
// the measured MFU would exceed kMostMfu, the row is refused as unreadable: its time is in another
// unit or is not that of a step.
RowPrediction FiguresOfRow(int64_t row, const Measurement& measured, const RowPlan& plan);

// Returns the measured figures and the prediction of a row.
RowPrediction PredictRow(int64_t row, const Measurement& measured,
                         const MeasurementPresets& presets);

}  // namespace meshwright::planner
