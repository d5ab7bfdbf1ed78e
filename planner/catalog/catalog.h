// Finds presets by name and reads specs from JSON text: models, clusters, framework profiles.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "planner/catalog/based_on.h"
#include "planner/profile/framework_profile.h"
#include "planner/spec/cluster_spec.h"
#include "planner/spec/model_spec.h"

namespace meshwright::planner {

std::vector<std::string> ModelNames();
std::vector<std::string> ClusterNames();
std::vector<std::string> ProfileNames();

// Return the JSON text of a preset, as its file in planner/data holds it. Users start files of
// their own from it. A model may have any of its names (planner/catalog/model_names.h). For an
// unknown name they return NotFound, and the message lists the nearest names.
absl::StatusOr<std::string_view> ModelText(std::string_view name);
absl::StatusOr<std::string_view> ClusterText(std::string_view name);
absl::StatusOr<std::string_view> ProfileText(std::string_view name);

absl::StatusOr<ModelSpec> FindModel(std::string_view name);  // with all of its windows
// Returns a preset. `host_cores` is the number of physical cores of the machine, which matters for
// clusters whose devices are processes on it.
absl::StatusOr<ClusterSpec> FindCluster(std::string_view name, int32_t host_cores);
absl::StatusOr<FrameworkProfile> FindProfile(std::string_view name);

// Returns the model of a HuggingFace config.json with the text `json`. A sliding window that is at
// least as long as `seq_len` is left out.
absl::StatusOr<ModelSpec> ModelFromConfig(std::string_view name, std::string_view json,
                                          int64_t seq_len);
// Return the cluster or the profile of a file. The file may be based on a preset
// (planner/catalog/based_on.h): on what `find_base` returns, or without `find_base` on one of the
// presets above.
absl::StatusOr<ClusterSpec> ClusterFromJson(std::string_view json, int32_t host_cores);
absl::StatusOr<ClusterSpec> ClusterFromJson(std::string_view json, int32_t host_cores,
                                            FindText find_base);
absl::StatusOr<FrameworkProfile> ProfileFromJson(std::string_view json);
absl::StatusOr<FrameworkProfile> ProfileFromJson(std::string_view json, FindText find_base);

// Return the JSON text that ClusterFromJson() and ProfileFromJson() read. A round trip changes
// nothing.
std::string ClusterToJson(const ClusterSpec& cluster);
std::string ProfileToJson(const FrameworkProfile& profile);

}  // namespace meshwright::planner
