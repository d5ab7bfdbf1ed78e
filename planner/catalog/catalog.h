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

// Return the JSON text of a preset, unchanged from its file in planner/data, so that users can
// start their own file from it. The functions also accept the other names of a preset
// (planner/catalog/{model,cluster,profile}_names.h). For an unknown name they return NotFound, and
// the message lists the nearest names.
absl::StatusOr<std::string_view> ModelText(std::string_view name);
absl::StatusOr<std::string_view> ClusterText(std::string_view name);
absl::StatusOr<std::string_view> ProfileText(std::string_view name);

absl::StatusOr<ModelSpec> FindModel(std::string_view name);  // keeps every sliding window
// Returns a preset, or a cluster in words such as "h100:8x4,ib=200Gb"
// (planner/catalog/cluster_words.h). `host_cores` is the number of physical cores of this machine.
// It is used only for clusters whose devices are CPU processes on this machine.
absl::StatusOr<ClusterSpec> FindCluster(std::string_view name, int32_t host_cores);
absl::StatusOr<FrameworkProfile> FindProfile(std::string_view name);

// Returns the model of a HuggingFace config.json with the text `json`. A sliding window that is at
// least as long as `seq_len` is left out.
absl::StatusOr<ModelSpec> ModelFromConfig(std::string_view name, std::string_view json,
                                          int64_t seq_len);
// Return the cluster or the profile that the JSON text of a file describes. If the file is based on
// a preset (planner/catalog/based_on.h), `find_base` returns the preset's text. The forms without
// `find_base` look it up among the presets above.
absl::StatusOr<ClusterSpec> ClusterFromJson(std::string_view json, int32_t host_cores);
absl::StatusOr<ClusterSpec> ClusterFromJson(std::string_view json, int32_t host_cores,
                                            FindText find_base);
absl::StatusOr<FrameworkProfile> ProfileFromJson(std::string_view json);
absl::StatusOr<FrameworkProfile> ProfileFromJson(std::string_view json, FindText find_base);

// Return the JSON text from which ClusterFromJson() and ProfileFromJson() restore the same value.
std::string ClusterToJson(const ClusterSpec& cluster);
std::string ProfileToJson(const FrameworkProfile& profile);

}  // namespace meshwright::planner
