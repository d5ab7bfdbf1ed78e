// Data files compiled into the binary: model presets, clusters, framework profiles, and tables.
#pragma once

#include <string_view>

#include "absl/types/span.h"

namespace meshwright::planner {

struct EmbeddedFile {
  std::string_view name;  // file name without folder and extension
  std::string_view text;
};

// Contents of planner/data/{models,clusters,profiles}/*.json, sorted by name.
absl::Span<const EmbeddedFile> EmbeddedModels();
absl::Span<const EmbeddedFile> EmbeddedClusters();
absl::Span<const EmbeddedFile> EmbeddedProfiles();
// planner/data/families.json alone.
absl::Span<const EmbeddedFile> EmbeddedFamilies();
// planner/data/architectures.json alone.
absl::Span<const EmbeddedFile> EmbeddedArchitectures();

}  // namespace meshwright::planner
