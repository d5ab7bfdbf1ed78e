// Writes runs whose specs are known as rows of a measurement file. This is the inverse of
// PlanRow().
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

// The `source` of the rows that RunsToCsv() writes.
inline constexpr std::string_view kExportedSource = "meshwright";

struct MeasuredRun {
  Layout layout;
  RunOutcome outcome = RunOutcome::kError;
  std::optional<double> step_s;  // only if the run succeeded
  std::optional<int64_t> peak_bytes;
};

// The specs that all runs share.
struct RunSpecs {
  std::string_view sweep;
  std::string_view framework;  // name of its profile
  const ModelSpec& model;
  const ClusterSpec& cluster;
  const TrainingSpec& training;
};

// Returns a header with all columns of the format and one line for each run. From the lines,
// PlanRow() reads the same layouts, batches and options. It reads the same model only if the
// columns describe the model fully: biases, norms of heads and a head_dim that is not hidden /
// heads are only in the notes. `gpu` is the first GPU name of the cluster, or the cluster's own
// name if there is none.
std::string RunsToCsv(const RunSpecs& specs, absl::Span<const MeasuredRun> runs);

}  // namespace meshwright::planner
