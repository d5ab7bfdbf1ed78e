// PresetEvidence is the evidence for a cluster or a framework profile: measured runs and who
// measured them, a benchmark, a data sheet, or only an assumption.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/functional/function_ref.h"
#include "planner/codec/fields.h"
#include "planner/profile/framework_profile.h"
#include "planner/spec/calibration.h"
#include "planner/spec/cluster_spec.h"

namespace meshwright::planner {

struct PresetEvidence {
  std::string name;
  std::string kind;                  // one of kEvidenceNames
  int64_t rows = 0;                  // measured steps that the preset was fitted to
  std::vector<std::string> sources;  // who measured them

  friend bool operator==(const PresetEvidence&, const PresetEvidence&) = default;
};

template <ConstOr<PresetEvidence> Evidence, typename Visitor>
void VisitFields(Evidence& evidence, Visitor& visit) {
  visit("name", evidence.name);
  visit(Among(kEvidenceNames, "kind"), evidence.kind);
  visit("rows", evidence.rows);
  visit("sources", evidence.sources);
}

PresetEvidence EvidenceOf(const ClusterSpec& cluster);
PresetEvidence EvidenceOf(const FrameworkProfile& profile);

// A preset and the fit that holds for it.
struct FittedPreset {
  std::string name;
  Calibration fit;
};

// Returns the preset on which a preset's file is based, or nullopt if the file stands by itself.
using FindFittedBase = absl::FunctionRef<std::optional<FittedPreset>(std::string_view name)>;

// Returns the name of the preset for which the fit was made: the preset itself, or the base from
// which it takes its fit.
std::string OwnerOfFit(FittedPreset preset, FindFittedBase base_of);

// Returns the median error of the fit, or nullopt if there is no fit.
std::optional<double> MedianErrorOf(const Calibration& fit);

}  // namespace meshwright::planner
