// InventedRow() returns an invented measurement that the planner can model, for tests to modify.
// ShippedPresets() returns the presets that rows are matched with.
#pragma once

#include "planner/measurement/measurement.h"
#include "planner/measurement/measurement_presets.h"

namespace meshwright::planner {

inline Measurement InventedRow() {
  Measurement row;
  row.sweep = "invented";
  row.model = "llama-test";
  row.layers = 8;
  row.hidden = 1024;
  row.ffn = 2816;
  row.heads = 16;
  row.vocab = 32000;
  row.seq = 1024;
  row.gpu = "A100-SXM";
  row.gpu_mem_gib = 80;
  row.gpus = 8;
  row.gpus_per_node = 8;
  row.tp = 2;
  row.pp = 2;
  row.mbs = 1;
  row.gbs = 16;
  row.outcome = RunOutcome::kOk;
  return row;
}

inline const MeasurementPresets& ShippedPresets() {
  static const auto* const kPresets = new MeasurementPresets(LoadMeasurementPresets(2).value());
  return *kPresets;
}

}  // namespace meshwright::planner
