// MeasurementPresets are the presets that measurements are matched with: `gpu` names a cluster,
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
  // The caller's choices. If set, they apply to every row, whatever the row says.
  std::optional<ClusterSpec> cluster;
  std::optional<FrameworkProfile> profile;
};

// Returns all presets that are compiled in. `host_cores` is that of FindCluster().
absl::StatusOr<MeasurementPresets> LoadMeasurementPresets(int32_t host_cores);

// Returns the preset that the row's `model` names (planner/catalog/model_names.h). Returns nullptr
// if there is none. The pointer lives as long as `presets`.
const ModelSpec* ModelOf(const MeasurementPresets& presets, const Measurement& row);

// Returns the cluster that the row's `gpu` names: one of the cluster's GPU names begins it, or it
// is the name of the cluster or of its device. A vendor before the name and a remark in parentheses
// that is a GPU's name count as well. Case does not matter, and the longest match decides.
// Among equals the memory nearest to gpu_mem_gib decides, or the largest memory if gpu_mem_gib is
// empty.
//
// The row's gpus_per_node replaces the preset's if scale_up connects the devices of one host. Its
// gpu_mem_gib replaces the preset's memory if the two are far apart, as for a variant of the
// device. A cluster with `rows` that hold for the row goes before all names. Returns
// InvalidArgument if no cluster has such a GPU.
absl::StatusOr<ClusterSpec> ClusterOf(const MeasurementPresets& presets, const Measurement& row);

// Returns the profile whose `rows` hold for the row (planner/measurement/row_condition.h), the one
// with the most comparisons first. Without such a profile it is the one with the longest name or
// alias that begins the row's `framework`; an empty `framework` counts as megatron. Some profiles
// describe an engine version (notes_contain). Their aliases count only if the row's notes name that
// version, and they then go before other profiles with a match of the same length. Options of the run may choose another profile of the framework
// (planner/catalog/profile_variants.h). The pointer lives as long as `presets`. Returns
// InvalidArgument if there is no such profile, which then names the option if that is why.
absl::StatusOr<const FrameworkProfile*> ProfileOf(const MeasurementPresets& presets,
                                                  const Measurement& row);

}  // namespace meshwright::planner
