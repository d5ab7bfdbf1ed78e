#include "planner/catalog/cluster_names.h"

#include <map>

#include "absl/strings/match.h"
#include "base/text/string_view.h"
#include "planner/codec/json_fields.h"
#include "planner/data/embedded.h"

namespace meshwright::planner {
namespace {

using NamesByCluster = std::map<std::string, std::vector<std::string>, std::less<>>;

NamesByCluster ReadNamesByCluster() {
  NamesByCluster names;
  const absl::StatusOr<nlohmann::json> file =
      ParseJsonObject("cluster_names", EmbeddedClusterNames().front().text);
  if (!file.ok()) return names;
  JsonFields fields(*file);
  for (const auto& [cluster, unused] : file->items()) names[cluster] = fields.StringsOr(cluster);
  return names;
}

const NamesByCluster& AllNamesByCluster() {
  static const NamesByCluster* const kNames = new NamesByCluster(ReadNamesByCluster());
  return *kNames;
}

bool AreTheSame(std::string_view a, std::string_view b) {
  return absl::EqualsIgnoreCase(AbslView(a), AbslView(b));
}

}  // namespace

std::string ClusterNamed(std::string_view name) {
  for (const auto& [cluster, others] : AllNamesByCluster()) {
    for (const std::string& other : others) {
      if (AreTheSame(other, name)) return cluster;
    }
  }
  return "";
}

std::string ClusterPresetOf(std::string_view name) {
  for (const EmbeddedFile& file : EmbeddedClusters()) {
    if (AreTheSame(file.name, name)) return std::string(file.name);
  }
  return ClusterNamed(name);
}

std::vector<std::string> OtherNamesOfCluster(std::string_view cluster) {
  const auto found = AllNamesByCluster().find(cluster);
  return found == AllNamesByCluster().end() ? std::vector<std::string>() : found->second;
}

}  // namespace meshwright::planner
