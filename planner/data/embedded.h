// Data files compiled into the binary: presets of models, clusters and framework profiles, and the
// tables of model families, architectures, defaults of their classes and names of models.
#pragma once

#include <string_view>

#include "absl/types/span.h"

namespace meshwright::planner {

struct EmbeddedFile {
  std::string_view name;  // file name without folder and extension
  std::string_view text;
};

// Each returns the files of one folder, planner/data/{models,clusters,profiles}/*.json, sorted by
// name.
absl::Span<const EmbeddedFile> EmbeddedModels();
absl::Span<const EmbeddedFile> EmbeddedClusters();
absl::Span<const EmbeddedFile> EmbeddedProfiles();
// Returns the files of planner/data/launch, templates of scripts that start a run.
absl::Span<const EmbeddedFile> EmbeddedLaunchTemplates();
// Returns the files of planner/data/arguments, the defaults of frameworks' arguments.
absl::Span<const EmbeddedFile> EmbeddedArguments();
// Returns planner/data/families.json alone.
absl::Span<const EmbeddedFile> EmbeddedFamilies();
// Returns planner/data/architectures.json alone.
absl::Span<const EmbeddedFile> EmbeddedArchitectures();
// Returns planner/data/config_keys.json alone.
absl::Span<const EmbeddedFile> EmbeddedConfigKeys();
// Returns planner/data/class_defaults.json alone.
absl::Span<const EmbeddedFile> EmbeddedClassDefaults();
// Returns planner/data/model_names.json alone.
absl::Span<const EmbeddedFile> EmbeddedModelNames();
// Returns planner/data/cluster_names.json alone.
absl::Span<const EmbeddedFile> EmbeddedClusterNames();
// Returns planner/data/left_out.json alone.
absl::Span<const EmbeddedFile> EmbeddedLeftOut();
// Returns planner/data/profile_names.json alone.
absl::Span<const EmbeddedFile> EmbeddedProfileNames();

}  // namespace meshwright::planner
