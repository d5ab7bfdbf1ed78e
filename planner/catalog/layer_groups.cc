#include "planner/catalog/layer_groups.h"

#include <algorithm>

#include "base/text/status_macros.h"
#include "planner/catalog/attention_config.h"
#include "planner/catalog/block_configs.h"
#include "planner/catalog/ffn_config.h"
#include "planner/catalog/layer_mixers.h"
#include "planner/catalog/layer_overrides.h"
#include "planner/catalog/recurrence_config.h"

namespace meshwright::planner {
namespace {

using nlohmann::json;

void AddLayer(const LayerGroup& layer, std::vector<LayerGroup>& groups) {
  if (!groups.empty() && groups.back().SameShape(layer)) {
    ++groups.back().count;
  } else {
    groups.push_back(layer);
  }
}

std::vector<LayerGroup> Grouped(const std::vector<LayerGroup>& layers) {
  std::vector<LayerGroup> groups;
  for (const LayerGroup& layer : layers) AddLayer(layer, groups);
  return groups;
}

}  // namespace

absl::StatusOr<std::vector<LayerGroup>> ReadLayerGroups(JsonFields& fields, const json& config,
                                                        const Architecture& architecture,
                                                        int64_t hidden, int64_t seq_len) {
  ASSIGN_OR_RETURN(const int64_t count, ReadLayerCount(fields, config));
  if (HasBlockConfigs(config)) {
    ASSIGN_OR_RETURN(const std::vector<LayerGroup> blocks,
                     ReadBlockConfigs(fields, architecture, hidden, count));
    return Grouped(blocks);
  }
  ASSIGN_OR_RETURN(const std::vector<LayerParts> parts,
                   ReadLayerParts(fields, config, architecture, count));
  ASSIGN_OR_RETURN(std::vector<Attention> attentions,
                   ReadAttentions(fields, config, architecture, hidden, seq_len, parts));
  ASSIGN_OR_RETURN(std::vector<Ffn> ffns, ReadFfns(fields, config, architecture, hidden, parts));
  RETURN_IF_ERROR(ApplyLayerOverrides(fields, attentions, ffns));
  const bool recurs = std::any_of(parts.begin(), parts.end(),
                                  [](const LayerParts& layer) { return layer.recurrence; });
  const Recurrence recurrence =
      recurs ? ReadRecurrence(fields, architecture, hidden) : Recurrence();
  RETURN_IF_ERROR(fields.status());
  std::vector<LayerGroup> layers;
  for (size_t layer = 0; layer < parts.size(); ++layer) {
    layers.push_back({.attention = attentions[layer],
                      .ffn = ffns[layer],
                      .count = 1,
                      .recurrence = parts[layer].recurrence ? recurrence : Recurrence()});
  }
  return Grouped(layers);
}

}  // namespace meshwright::planner
