// One measured run beside what the planner says about it, in comparable units.
//
// Measured figures are worked out from the same shape and definitions as predicted ones, so that a
// difference is the estimate's and not the source's way to count.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "planner/layout/layout.h"
#include "planner/measurement/measurement.h"
#include "planner/measurement/measurement_presets.h"
#include "planner/measurement/planned_row.h"

namespace meshwright::planner {

struct Prediction {
  int64_t peak_bytes = 0;           // of what the source reports as peak_mem_gib
  double fraction_of_device = 0.0;  // fullest stage with all overheads over the device's memory
  double oom_probability = 0.0;
  double step_s = 0.0;
  double step_low_s = 0.0;
  double step_high_s = 0.0;
  double mfu = 0.0;                      // PaLM definition
  double tokens_per_s_per_device = 0.0;  // what "faster" means: batches may differ in a sweep
};

struct RowPrediction {
  int64_t row = 0;   // data line, from 0 over all files in the order given
  std::string file;  // as Measurement's
  int64_t line = 0;
  std::string sweep;
  RunOutcome outcome = RunOutcome::kUnknown;
  std::optional<Prediction> predicted;
  std::optional<Layout> layout;  // that was predicted; there is one where `predicted` is
  std::string reason;            // why there is no prediction; empty where there is one
  std::string subject;           // column or rule that the reason is about, or kUnreadable

  // Set only for runs that went through (kOk).
  OptionalNumber step_s;  // step_time_s, else from tokens_per_s_per_gpu
  OptionalNumber tokens_per_s_per_device;
  // PaLM definition from the step time where model, cluster and batch are known (else nullopt); the
  // source's own figure where it gives no time.
  OptionalNumber mfu;
  OptionalNumber peak_bytes;
};

// What was measured alone, of a row that PlanRow() planned so. A run that would be faster than
// kMostMfu allows is refused as an unreadable row: it holds the time of something else, or in
// another unit.
RowPrediction FiguresOfRow(int64_t row, const Measurement& measured, const RowPlan& plan);

// The same with what the planner says.
RowPrediction PredictRow(int64_t row, const Measurement& measured,
                         const MeasurementPresets& presets);

}  // namespace meshwright::planner
