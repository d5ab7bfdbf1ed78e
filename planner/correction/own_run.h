// OwnRun is a training run that the user did, with its measurements.
#pragma once

#include <cstdint>
#include <optional>

#include "planner/layout/layout.h"
#include "planner/spec/training_spec.h"

namespace meshwright::planner {

struct OwnRun {
  Layout layout;
  TrainingSpec training;  // the request's training, except for what differed in this run
  std::optional<double> step_s;
  // The peak of the fullest device, as the framework reports it.
  std::optional<int64_t> peak_bytes;
  bool out_of_memory = false;  // if true, nothing else was measured
  // The uncorrected estimates of step_s and peak_bytes. AddOwnRuns() (planner/catalog/own_runs.h)
  // sets them when it adds the run to a request.
  double step_before_s = 0.0;
  int64_t peak_before_bytes = 0;

  friend bool operator==(const OwnRun&, const OwnRun&) = default;
};

}  // namespace meshwright::planner
