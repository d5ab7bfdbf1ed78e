#include "planner/catalog/preset_text.h"

#include <string>
#include <vector>

#include "absl/types/span.h"
#include "base/text/field_error.h"
#include "base/text/nearest.h"
#include "planner/data/embedded.h"

namespace meshwright::planner {
namespace {

absl::StatusOr<std::string_view> FindPreset(std::string_view what, std::string_view name,
                                            absl::Span<const EmbeddedFile> files) {
  std::vector<std::string> known;
  for (const EmbeddedFile& file : files) {
    if (file.name == name) return file.text;
    known.emplace_back(file.name);
  }
  return WithField(UnknownName(what, name, known), what);
}

}  // namespace

absl::StatusOr<std::string_view> ModelText(std::string_view name) {
  return FindPreset("model", name, EmbeddedModels());
}

absl::StatusOr<std::string_view> ClusterText(std::string_view name) {
  return FindPreset("cluster", name, EmbeddedClusters());
}

absl::StatusOr<std::string_view> ProfileText(std::string_view name) {
  return FindPreset("framework", name, EmbeddedProfiles());
}

}  // namespace meshwright::planner
