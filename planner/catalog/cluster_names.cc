#include "planner/catalog/cluster_names.h"

#include "absl/strings/match.h"
#include "base/text/string_view.h"
#include "planner/catalog/other_names.h"
#include "planner/data/embedded.h"

namespace meshwright::planner {
namespace {

const OtherNames& AllClusterNames() {
  static const OtherNames* const kNames =
      new OtherNames("cluster_names", EmbeddedClusterNames().front().text);
  return *kNames;
}

}  // namespace

std::string ClusterNamed(std::string_view name) { return AllClusterNames().PresetOf(name); }

std::string ClusterPresetOf(std::string_view name) {
  for (const EmbeddedFile& file : EmbeddedClusters()) {
    if (absl::EqualsIgnoreCase(AbslView(file.name), AbslView(name))) return std::string(file.name);
  }
  return ClusterNamed(name);
}

std::vector<std::string> OtherNamesOfCluster(std::string_view cluster) {
  return AllClusterNames().Of(cluster);
}

}  // namespace meshwright::planner
