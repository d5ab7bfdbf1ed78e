// Maps names of devices to clusters, such as "4090" to rtx-4090. The names are in
// planner/data/cluster_names.json.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace meshwright::planner {

// Returns the cluster that has `name` as another name, ignoring case, or an empty text if there is
// none. A cluster's own name does not count as another name.
std::string ClusterNamed(std::string_view name);

// Returns the cluster whose own name or other name this is, ignoring case, or an empty text if
// there is none.
std::string ClusterPresetOf(std::string_view name);

// Returns all names of the cluster except its own.
std::vector<std::string> OtherNamesOfCluster(std::string_view cluster);

}  // namespace meshwright::planner
