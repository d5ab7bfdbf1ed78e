#include "planner/catalog/layer_groups.h"

#include <algorithm>

#include "base/text/field_error.h"
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

// Zamba2's layers with attention run `num_mem_blocks` blocks in turn.
absl::Status SetSharedBlocks(JsonFields& fields, std::vector<LayerGroup>& layers) {
  const int64_t blocks = fields.IntOr("num_mem_blocks", 1);
  const int64_t rank = fields.IntOr("adapter_rank", 0);
  const bool adapts_attention = fields.BoolOr("use_shared_attention_adapter", false);
  RETURN_IF_ERROR(fields.status());
  RETURN_IF_ERROR(CheckRange("num_mem_blocks", blocks, 1, kMostLayers));
  int64_t runs = 0;
  for (LayerGroup& layer : layers) {
    if (!layer.attention.exists()) continue;
    layer.shared_block = {.runs = true,
                          .owns_weights = runs++ < blocks,
                          .adapter_rank = rank,
                          .adapts_attention = adapts_attention && rank > 0};
  }
  return absl::OkStatus();
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
  if (architecture.shared_blocks) RETURN_IF_ERROR(SetSharedBlocks(fields, layers));
  return Grouped(layers);
}

}  // namespace meshwright::planner
