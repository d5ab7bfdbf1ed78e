// RestsOn is the evidence behind the cluster and the framework of an answer: measured runs and who
// measured them, a benchmark, a data sheet, or only an assumption.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "planner/estimate/step_interval.h"
#include "planner/profile/framework_profile.h"
#include "planner/report/preset_evidence.h"
#include "planner/spec/cluster_spec.h"
#include "planner/spec/training_spec.h"

namespace meshwright::planner {

// A measured run of the user, with its estimates before and after all such runs corrected them.
struct MeasuredRunReport {
  std::string layout;
  bool out_of_memory = false;
  std::optional<double> measured_step_s;
  double step_before_s = 0.0;
  double step_s = 0.0;
  std::optional<int64_t> measured_peak_bytes;
  int64_t peak_before_bytes = 0;
  int64_t peak_bytes = 0;

  friend bool operator==(const MeasuredRunReport&, const MeasuredRunReport&) = default;
};

struct RestsOn {
  PresetEvidence cluster;
  PresetEvidence framework;
  double step_time_sigma = 0.0;  // standard deviation of ln(step time) between runs of one source
  EvidenceLevel level = EvidenceLevel::kNeither;
  // The parts of the query that no measured run of the presets covers and that widen the
  // interval, each as a clause: "few runs with experts were fitted".
  std::vector<std::string> uncovered;
  // The attention kernel of layouts that name none; in an answer about one layout, that layout's
  // kernel.
  AttentionKernel attention_kernel = AttentionKernel::kFlash2;
  std::string sentence;                     // the members before `attention_kernel` in one line
  std::vector<MeasuredRunReport> measured;  // the measured runs of the query

  friend bool operator==(const RestsOn&, const RestsOn&) = default;
};

// Returns the evidence. `measured` are the measured runs of the query. If they corrected step
// times, `spread` is set: 80 % of runs like them take between 1 / `spread` and `spread` times the
// corrected step time.
RestsOn RestsOnOf(const ClusterSpec& cluster, const FrameworkProfile& profile,
                  const ModelSpec& model, const TrainingSpec& training = {},
                  std::vector<MeasuredRunReport> measured = {},
                  std::optional<double> spread = std::nullopt);

}  // namespace meshwright::planner
