#include "planner/catalog/tower_config.h"

#include <optional>
#include <string>

#include "planner/catalog/tower_fields.h"
#include "planner/catalog/tower_kinds.h"

namespace meshwright::planner {
namespace {

using nlohmann::json;

constexpr int64_t kMostPatchesPerToken = 64;  // far above every tower so far

// Kimi's keys begin with vt_; Qwen's blocks are counted by `depth`, and Qwen2-VL's widths have
// names of their own.
Tower BlocksOf(TowerFields& fields) {
  Tower tower;
  tower.layers = fields.Size({"depth", "num_hidden_layers", "vt_num_hidden_layers"});
  tower.hidden = fields.Size({"hidden_size", "vt_hidden_size"});
  tower.heads = fields.Size({"num_heads", "num_attention_heads", "vt_num_attention_heads"});
  tower.ffn_hidden = fields.Has("mlp_ratio") && !fields.Has("intermediate_size")
                         ? 1
                         : fields.Size({"intermediate_size", "vt_intermediate_size"});
  const int64_t patch = fields.Size({"patch_size"});
  tower.patch_inputs =
      fields.SizeOr("in_channels", fields.SizeOr("num_channels", fields.SizeOr("in_chans", 3))) *
      fields.SizeOr("temporal_patch_size", 1) * patch * patch;
  return tower;
}

// MiniMax-M3's own file says how patches are put together in an object of its own.
json Lifted(json config) {
  const auto inner = config.find("img_token_compression_config");
  if (inner == config.end() || !inner->is_object()) return config;
  const json object = *inner;
  config.update(object);
  return config;
}

std::optional<Tower> ReadVision(const json& given, const json& wrapper, int64_t hidden) {
  const json config = Lifted(given);
  TowerFields fields(config);
  Tower tower = BlocksOf(fields);
  ReadTowerKind(wrapper, hidden, fields, tower);
  const bool is_possible = tower.hidden % tower.heads == 0 && tower.patches_per_token >= 1 &&
                           tower.patches_per_token <= kMostPatchesPerToken;
  if (!fields.is_readable() || !is_possible) return std::nullopt;
  return tower;
}

}  // namespace

std::vector<Tower> ReadTowers(const json& wrapper, int64_t hidden) {
  std::vector<Tower> towers;
  constexpr const char* kKey = "vision_config";
  const auto config = wrapper.find(kKey);
  if (config == wrapper.end() || !config->is_object()) return towers;
  std::optional<Tower> tower = ReadVision(*config, wrapper, hidden);
  if (!tower) return towers;
  tower->key = kKey;
  towers.push_back(*std::move(tower));
  return towers;
}

}  // namespace meshwright::planner
