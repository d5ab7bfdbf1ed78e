// Declares the fields of presets that `meshwright list` prints (planner/codec/fields.h). Each run
// prints one kind of preset, and so one of the fields.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "planner/codec/fields.h"

namespace meshwright::cli {

struct PresetListText {
  std::optional<std::vector<std::string>> models;
  std::optional<std::vector<std::string>> clusters;
  std::optional<std::vector<std::string>> profiles;
};

template <typename Visitor>
void VisitFields(const PresetListText& list, Visitor& visit) {
  visit({"models", "Names of models"}, list.models);
  visit({"clusters", "Names of clusters"}, list.clusters);
  visit({"profiles", "Names of framework profiles"}, list.profiles);
}

}  // namespace meshwright::cli
