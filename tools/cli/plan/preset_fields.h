// PresetListText declares the fields of presets that `meshwright list` prints
// (planner/codec/fields.h). Each run prints only one kind of preset, with the fields of that kind.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "planner/codec/fields.h"
#include "planner/report/cluster_preset.h"
#include "planner/report/model_preset.h"
#include "planner/report/profile_preset.h"

namespace meshwright::cli {

struct PresetListText {
  std::optional<std::vector<std::string>> models;
  std::optional<std::vector<planner::ModelPreset>> model_presets;
  std::optional<std::vector<std::string>> clusters;
  std::optional<std::vector<planner::ClusterPreset>> cluster_presets;
  std::optional<std::vector<std::string>> profiles;
  std::optional<std::vector<planner::ProfilePreset>> profile_presets;
};

template <typename Visitor>
void VisitFields(const PresetListText& list, Visitor& visit) {
  visit({"models", "Names of models"}, list.models);
  visit({"model_presets", "What the models are, in the same order"}, list.model_presets);
  visit({"clusters", "Names of clusters"}, list.clusters);
  visit({"cluster_presets", "What the clusters are, in the same order"}, list.cluster_presets);
  visit({"profiles", "Names of framework profiles"}, list.profiles);
  visit({"profile_presets", "What the profiles are, in the same order"}, list.profile_presets);
}

}  // namespace meshwright::cli
