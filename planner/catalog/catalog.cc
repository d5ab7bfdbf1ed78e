#include "planner/catalog/catalog.h"

#include <limits>

#include "absl/types/span.h"
#include "base/text/status_macros.h"
#include "planner/catalog/preset_text.h"
#include "planner/data/embedded.h"

namespace meshwright::planner {
namespace {

std::vector<std::string> FileNames(absl::Span<const EmbeddedFile> files) {
  std::vector<std::string> names;
  for (const EmbeddedFile& file : files) names.emplace_back(file.name);
  return names;
}

}  // namespace

std::vector<std::string> ModelNames() { return FileNames(EmbeddedModels()); }
std::vector<std::string> ClusterNames() { return FileNames(EmbeddedClusters()); }
std::vector<std::string> ProfileNames() { return FileNames(EmbeddedProfiles()); }

absl::StatusOr<ClusterSpec> ClusterFromJson(std::string_view json, int32_t host_cores) {
  return ClusterFromJson(json, host_cores,
                         [](std::string_view name) -> absl::StatusOr<std::string> {
                           ASSIGN_OR_RETURN(const std::string_view text, ClusterText(name));
                           return std::string(text);
                         });
}

absl::StatusOr<FrameworkProfile> ProfileFromJson(std::string_view json) {
  return ProfileFromJson(json, [](std::string_view name) -> absl::StatusOr<std::string> {
    ASSIGN_OR_RETURN(const std::string_view text, ProfileText(name));
    return std::string(text);
  });
}

absl::StatusOr<ModelSpec> FindModel(std::string_view name) {
  const auto text = ModelText(name);
  if (!text.ok()) return text.status();
  // With all of its windows: those that a sequence does not reach change nothing.
  return ModelFromConfig(name, *text, std::numeric_limits<int64_t>::max());
}

absl::StatusOr<ClusterSpec> FindCluster(std::string_view name, int32_t host_cores) {
  const auto text = ClusterText(name);
  if (!text.ok()) return text.status();
  return ClusterFromJson(*text, host_cores);
}

absl::StatusOr<FrameworkProfile> FindProfile(std::string_view name) {
  const auto text = ProfileText(name);
  if (!text.ok()) return text.status();
  return ProfileFromJson(*text);
}

}  // namespace meshwright::planner
