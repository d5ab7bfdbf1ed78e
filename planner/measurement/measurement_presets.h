// MeasurementPresets holds the presets with which measurements are matched: `gpu` names a cluster,
// `framework` a framework profile, and `model` a model.
//
// Matching uses only the data of presets: rows of a new preset are modelled without a change here.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "planner/measurement/measurement.h"
#include "planner/measurement/model_families.h"
#include "planner/profile/framework_profile.h"
#include "planner/spec/cluster_spec.h"
#include "planner/spec/model_spec.h"

namespace meshwright::planner {

struct MeasurementPresets {
  std::vector<ModelSpec> models;
  std::vector<ClusterSpec> clusters;
  std::vector<FrameworkProfile> profiles;
  ModelFamilies families;
  // The caller's choices. If set, they apply to every row and override what the row says.
  std::optional<ClusterSpec> cluster;
  std::optional<FrameworkProfile> profile;
};

// Returns all presets that are compiled in. `host_cores` means the same as in FindCluster().
absl::StatusOr<MeasurementPresets> LoadMeasurementPresets(int32_t host_cores);

// Returns the preset that the row's `model` names (planner/catalog/model_names.h). Returns nullptr
// if there is none. The pointer lives as long as `presets`.
const ModelSpec* ModelOf(const MeasurementPresets& presets, const Measurement& row);

// Returns the cluster that the row's `gpu` names. `gpu` must begin with one of the cluster's GPU
// names, or be the name of the cluster or of its device. Case does not matter, and the longest
// match decides. A vendor at the beginning of `gpu` is ignored; a text in parentheses is also tried
// as the name. Among clusters with equally long matches, the memory nearest to gpu_mem_gib decides,
// or the largest memory if gpu_mem_gib is empty.
//
// The row's gpus_per_node replaces the preset's if scale_up connects the devices of one host. Its
// gpu_mem_gib replaces the preset's memory if the two are far apart, as for a variant of the
// device. If a cluster's `rows` (planner/measurement/row_condition.h) hold for the row, that
// cluster takes precedence over all matches by name. Returns InvalidArgument if no cluster has such
// a GPU.
absl::StatusOr<ClusterSpec> ClusterOf(const MeasurementPresets& presets, const Measurement& row);

// Returns the profile whose `rows` hold for the row (planner/measurement/row_condition.h). If there
// are several, this is the one with the most comparisons. If there is none, returns the profile
// with the longest name or alias with which the row's `framework` begins. An empty `framework`
// counts as megatron. Some profiles describe an engine version (notes_contain). The aliases of such
// a profile count only if the row's notes name that version. The profile then takes precedence over
// other profiles with a match of the same length. Options of the run may choose another profile of
// the framework (planner/catalog/profile_variants.h). The pointer lives as long as `presets`.
// Returns InvalidArgument if there is no such profile. If an option is the cause, the error names
// it.
absl::StatusOr<const FrameworkProfile*> ProfileOf(const MeasurementPresets& presets,
                                                  const Measurement& row);

}  // namespace meshwright::planner
