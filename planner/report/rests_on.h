// RestsOn is the evidence behind an answer's presets: measured runs and whose, a benchmark, a data
// sheet.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "planner/profile/framework_profile.h"
#include "planner/spec/cluster_spec.h"

namespace meshwright::planner {

struct PresetEvidence {
  std::string name;
  std::string kind;                  // as EvidenceName()
  int64_t rows = 0;                  // measured steps that the preset was fitted to
  std::vector<std::string> sources;  // who measured them

  friend bool operator==(const PresetEvidence&, const PresetEvidence&) = default;
};

struct RestsOn {
  PresetEvidence cluster;
  PresetEvidence framework;
  double step_time_sigma = 0.0;  // deviation of ln(step time), which gives the interval
  std::string sentence;          // one line

  friend bool operator==(const RestsOn&, const RestsOn&) = default;
};

RestsOn RestsOnOf(const ClusterSpec& cluster, const FrameworkProfile& profile);

}  // namespace meshwright::planner
