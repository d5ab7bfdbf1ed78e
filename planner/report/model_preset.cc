#include "planner/report/model_preset.h"

#include <limits>
#include <utility>

#include "planner/catalog/catalog.h"
#include "planner/catalog/model_config.h"
#include "planner/catalog/model_names.h"

namespace meshwright::planner {
namespace {

// A hybrid has recurrences in some of its layers.
std::string KindOf(const ModelSpec& model) {
  for (const LayerGroup& group : model.groups) {
    if (group.recurrence.exists()) return "hybrid";
  }
  return model.has_experts() ? "experts" : "dense";
}

}  // namespace

std::vector<ModelPreset> ModelPresets() {
  std::vector<ModelPreset> presets;
  for (const std::string& name : ModelNames()) {
    const absl::StatusOr<ModelConfig> config =
        ReadModelConfig(name, ModelText(name).value(), std::numeric_limits<int64_t>::max());
    if (!config.ok()) continue;  // a test reads them all
    ModelPreset preset;
    preset.name = name;
    preset.other_names = OtherNamesOf(name);
    preset.kind = KindOf(config->model);
    preset.counts = ParameterCountsOf(config->model);
    preset.context_tokens = config->context_tokens;
    presets.push_back(std::move(preset));
  }
  return presets;
}

}  // namespace meshwright::planner
