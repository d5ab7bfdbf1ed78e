// RestsOn is the evidence behind the cluster and the framework of an answer: measured runs and who
// measured them, a benchmark, a data sheet, or only an assumption.
#pragma once

#include <string>

#include "planner/estimate/step_interval.h"
#include "planner/profile/framework_profile.h"
#include "planner/report/preset_evidence.h"
#include "planner/spec/cluster_spec.h"
#include "planner/spec/training_spec.h"

namespace meshwright::planner {

struct RestsOn {
  PresetEvidence cluster;
  PresetEvidence framework;
  double step_time_sigma = 0.0;  // standard deviation of ln(step time) between runs of one source
  EvidenceLevel level = EvidenceLevel::kNeither;
  std::string sentence;          // all other members in one line

  friend bool operator==(const RestsOn&, const RestsOn&) = default;
};

RestsOn RestsOnOf(const ClusterSpec& cluster, const FrameworkProfile& profile,
                  const ModelSpec& model, const TrainingSpec& training = {});

}  // namespace meshwright::planner
