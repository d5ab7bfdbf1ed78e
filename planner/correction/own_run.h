// OwnRun is a training run that the user did, with what it measured.
#pragma once

#include <cstdint>
#include <optional>

#include "planner/layout/layout.h"
#include "planner/spec/training_spec.h"

namespace meshwright::planner {

struct OwnRun {
  Layout layout;
  TrainingSpec training;  // the question's, except for what the run did differently
  std::optional<double> step_s;
  // The peak of the fullest device, as the framework reports it.
  std::optional<int64_t> peak_bytes;
  bool out_of_memory = false;  // then nothing else was measured
  // What the formulas alone say, in the same terms. Set once the run belongs to a request
  // (AddOwnRuns() in planner/catalog/own_runs.h).
  double step_before_s = 0.0;
  int64_t peak_before_bytes = 0;

  friend bool operator==(const OwnRun&, const OwnRun&) = default;
};

}  // namespace meshwright::planner
