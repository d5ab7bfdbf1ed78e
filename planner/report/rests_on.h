// RestsOn is the evidence behind the cluster and the framework of an answer: measured runs and who
// measured them, a benchmark, a data sheet, or only an assumption.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "planner/profile/framework_profile.h"
#include "planner/spec/cluster_spec.h"
#include "planner/spec/run_options.h"

namespace meshwright::planner {

struct PresetEvidence {
  std::string name;
  std::string kind;                  // one of kEvidenceNames
  int64_t rows = 0;                  // measured steps that the preset was fitted to
  std::vector<std::string> sources;  // who measured them

  friend bool operator==(const PresetEvidence&, const PresetEvidence&) = default;
};

struct RestsOn {
  PresetEvidence cluster;
  PresetEvidence framework;
  double step_time_sigma = 0.0;  // standard deviation of ln(step time), behind the interval
  std::string sentence;          // all of this in one line

  friend bool operator==(const RestsOn&, const RestsOn&) = default;
};

RestsOn RestsOnOf(const ClusterSpec& cluster, const FrameworkProfile& profile,
                  const ModelSpec& model, const RunOptions& options = {});

}  // namespace meshwright::planner
