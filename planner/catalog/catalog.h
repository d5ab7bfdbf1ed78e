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

// Return the JSON texts of presets, as the files in planner/data hold them, from which a user
// starts a file of their own. An unknown name is NotFound and lists the nearest ones.
absl::StatusOr<std::string_view> ModelText(std::string_view name);
absl::StatusOr<std::string_view> ClusterText(std::string_view name);
absl::StatusOr<std::string_view> ProfileText(std::string_view name);

absl::StatusOr<ModelSpec> FindModel(std::string_view name);  // with all of its windows
// `host_cores`: physical cores of the machine, for clusters whose devices are processes on it.
absl::StatusOr<ClusterSpec> FindCluster(std::string_view name, int32_t host_cores);
absl::StatusOr<FrameworkProfile> FindProfile(std::string_view name);

// `json` is the text of a HuggingFace config.json. `seq_len` decides whether a sliding window
// matters.
absl::StatusOr<ModelSpec> ModelFromConfig(std::string_view name, std::string_view json,
                                          int64_t seq_len);
// These files may be based on a preset (planner/catalog/based_on.h): one of the above, or what
// `find_base` returns.
absl::StatusOr<ClusterSpec> ClusterFromJson(std::string_view json, int32_t host_cores);
absl::StatusOr<ClusterSpec> ClusterFromJson(std::string_view json, int32_t host_cores,
                                            FindText find_base);
absl::StatusOr<FrameworkProfile> ProfileFromJson(std::string_view json);
absl::StatusOr<FrameworkProfile> ProfileFromJson(std::string_view json, FindText find_base);

// Return the JSON text that ClusterFromJson and ProfileFromJson read; a round trip changes nothing.
std::string ClusterToJson(const ClusterSpec& cluster);
std::string ProfileToJson(const FrameworkProfile& profile);

}  // namespace meshwright::planner
