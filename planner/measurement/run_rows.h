// Runs of one's own, whose specs are known, as lines of a measurement file: PlanRow() the other way
// round.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "absl/types/span.h"
#include "planner/layout/layout.h"
#include "planner/measurement/measurement.h"
#include "planner/spec/cluster_spec.h"
#include "planner/spec/model_spec.h"
#include "planner/spec/training_spec.h"

namespace meshwright::planner {

struct MeasuredRun {
  Layout layout;
  RunOutcome outcome = RunOutcome::kError;
  std::optional<double> step_s;  // only of a run that went through
  std::optional<int64_t> peak_bytes;
};

// What the runs have in common.
struct RunSpecs {
  std::string_view sweep;
  std::string_view framework;  // name of its profile
  const ModelSpec& model;
  const ClusterSpec& cluster;
  const TrainingSpec& training;
};

// A header with all columns of the format and one line per run. PlanRow() reads the same layouts
// and batches from them, and the model as far as columns can tell: biases, norms of heads and a
// head_dim that is not hidden / heads stand in the notes only. The device is called as the
// cluster's preset calls it, or else as the cluster itself.
std::string RunsToCsv(const RunSpecs& specs, absl::Span<const MeasuredRun> runs);

}  // namespace meshwright::planner
