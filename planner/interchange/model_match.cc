#include "planner/interchange/model_match.h"

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

#include "planner/catalog/catalog.h"

namespace meshwright::planner {
namespace {

struct Preset {
  std::string name;
  ModelSpec model;
};

std::vector<Preset> Presets() {
  std::vector<Preset> presets;
  for (const std::string& name : ModelNames()) {
    absl::StatusOr<ModelSpec> model = FindModel(name);
    if (model.ok()) presets.push_back({name, *std::move(model)});
  }
  return presets;
}

bool Has(const ModelSpec& model, const Settings& settings) {
  const auto is = [&settings](std::string_view name, int64_t size) {
    const auto said = settings.CountOf(name);
    return !said || *said == size;
  };
  const auto any_group = [&](std::string_view name, auto size_of) {
    return std::any_of(model.groups.begin(), model.groups.end(),
                       [&](const LayerGroup& group) { return is(name, size_of(group)); });
  };
  return is("layers", model.layers()) && is("hidden", model.hidden) && is("vocab", model.vocab) &&
         any_group("ffn", [](const LayerGroup& group) { return group.ffn.hidden; }) &&
         any_group("heads", [](const LayerGroup& group) { return group.attention.heads; }) &&
         any_group("kv_heads", [](const LayerGroup& group) { return group.attention.kv_heads; }) &&
         model.has_experts() == settings.CountOf("num_experts").has_value();
}

}  // namespace

std::string MatchingPreset(const Settings& settings) {
  if (!settings.CountOf("layers") || !settings.CountOf("hidden")) return "";
  static const std::vector<Preset> presets = Presets();
  std::vector<std::string_view> matching;
  for (const Preset& preset : presets) {
    if (Has(preset.model, settings)) matching.push_back(preset.name);
  }
  const bool is_clear = settings.CountOf("ffn") && settings.CountOf("vocab");
  if (matching.empty() || (matching.size() > 1 && !is_clear)) return "";
  return std::string(matching.front());
}

}  // namespace meshwright::planner
