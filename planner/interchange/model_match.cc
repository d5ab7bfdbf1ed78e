#include "planner/interchange/model_match.h"

#include <algorithm>

#include "planner/catalog/catalog.h"

namespace meshwright::planner {
namespace {

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
         model.has_experts() == settings.CountOf("experts").has_value();
}

}  // namespace

std::string MatchingPreset(const Settings& settings) {
  if (!settings.CountOf("layers") || !settings.CountOf("hidden")) return "";
  for (const std::string& name : ModelNames()) {
    const absl::StatusOr<ModelSpec> model = FindModel(name);
    if (model.ok() && Has(*model, settings)) return name;
  }
  return "";
}

}  // namespace meshwright::planner
