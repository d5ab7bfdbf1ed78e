// The presets that measurements are matched against: which cluster a row's `gpu` names, which
// framework profile its `framework`, and which model its `model`.
//
// All go by data: a new preset file makes its rows modelled, without a change here.
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
  // Where the caller chose one, it stands for every row, whatever the row says.
  std::optional<ClusterSpec> cluster;
  std::optional<FrameworkProfile> profile;
};

// All that are compiled in. `host_cores` as in FindCluster().
absl::StatusOr<MeasurementPresets> LoadMeasurementPresets(int32_t host_cores);

// The preset with the name that `model` gives, or of which families know that it has that model's
// shape, however either is spelt; nullptr where there is none.
// The pointer lives as long as `presets`.
const ModelSpec* ModelOf(const MeasurementPresets& presets, const Measurement& row);

// The cluster one of whose GPU names is the longest prefix of `gpu`, in any case of letters, or
// whose own name or device's name `gpu` is; among equals the one whose memory is nearest to
// gpu_mem_gib, or the largest where that is unknown. gpus_per_node takes the place of the preset's
// where a host is what scale_up connects, and so does gpu_mem_gib where it is far from the preset's
// memory (a variant of the device). InvalidArgument where no cluster has such a GPU.
absl::StatusOr<ClusterSpec> ClusterOf(const MeasurementPresets& presets, const Measurement& row);

// The profile with this name or alias, else the one with the longest that begins the framework's
// name; an empty framework is megatron. Profiles of an engine version (notes_contain) only where
// the row's notes name it, and then before others. The pointer lives as long as `presets`.
// InvalidArgument where there is none.
absl::StatusOr<const FrameworkProfile*> ProfileOf(const MeasurementPresets& presets,
                                                  const Measurement& row);

}  // namespace meshwright::planner
