#include "planner/catalog/tower_config.h"

#include <algorithm>
#include <initializer_list>
#include <optional>
#include <string>

namespace meshwright::planner {
namespace {

using nlohmann::json;

// Far above every tower so far; keeps products of sizes within 64 bits.
constexpr int64_t kMaxSize = int64_t{1} << 20;
constexpr int64_t kMostPatchesPerToken = 64;

// TowerFields reads sizes from a tower's object. A size that is absent or out of range makes the
// tower unreadable.
class TowerFields {
 public:
  explicit TowerFields(const json& config) : config_(config) {}

  int64_t Size(std::initializer_list<const char*> keys) {
    for (const char* key : keys) {
      const auto value = config_.find(key);
      if (value == config_.end() || !value->is_number_integer()) continue;
      const auto size = value->get<int64_t>();
      if (size >= 1 && size <= kMaxSize) return size;
    }
    is_readable_ = false;
    return 1;
  }
  int64_t SizeOr(const char* key, int64_t otherwise) const {
    const auto value = config_.find(key);
    return value != config_.end() && value->is_number_integer() ? value->get<int64_t>() : otherwise;
  }
  bool Has(const char* key) const { return config_.contains(key); }
  bool Is(const char* key, const char* text) const {
    const auto value = config_.find(key);
    return value != config_.end() && *value == text;
  }
  int64_t Length(const char* key) const {
    const auto list = config_.find(key);
    return list != config_.end() && list->is_array() ? static_cast<int64_t>(list->size()) : 0;
  }
  bool is_readable() const { return is_readable_; }

 private:
  const json& config_;
  bool is_readable_ = true;
};

// Kimi's keys begin with vt_; Qwen's blocks are counted by `depth`.
Tower BlocksOf(TowerFields& fields) {
  Tower tower;
  tower.layers = fields.Size({"depth", "num_hidden_layers", "vt_num_hidden_layers"});
  tower.hidden = fields.Size({"hidden_size", "vt_hidden_size"});
  tower.heads = fields.Size({"num_heads", "num_attention_heads", "vt_num_attention_heads"});
  tower.ffn_hidden = fields.Size({"intermediate_size", "vt_intermediate_size"});
  const int64_t patch = fields.Size({"patch_size"});
  tower.patch_inputs = fields.SizeOr("in_channels", fields.SizeOr("num_channels", 3)) *
                       fields.SizeOr("temporal_patch_size", 1) * patch * patch;
  return tower;
}

// A projector of two products over merge^2 patches that are put together.
void AddMerger(const Tower& tower, int64_t merge, int64_t outputs,
               std::vector<TowerProjection>& to) {
  const int64_t merged = tower.hidden * merge * merge;
  to.push_back({merged, merged, true});
  to.push_back({merged, outputs, true});
}

void ReadQwen3(TowerFields& fields, Tower& tower) {
  const int64_t merge = fields.Size({"spatial_merge_size"});
  const int64_t outputs = fields.Size({"out_hidden_size"});
  const int64_t deep = fields.Length("deepstack_visual_indexes");
  tower.biases = true;
  tower.patch_bias = true;
  tower.positions = fields.Size({"num_position_embeddings"});
  tower.patches_per_token = merge * merge;
  for (int64_t i = 0; i <= deep; ++i) AddMerger(tower, merge, outputs, tower.projector);
  tower.norm_elements = 2 * tower.hidden + deep * 2 * tower.hidden * merge * merge;
}

void ReadQwen2_5(TowerFields& fields, Tower& tower) {
  const int64_t merge = fields.Size({"spatial_merge_size"});
  tower.gated = true;
  tower.biases = true;
  tower.norm = TowerNorm::kRms;
  tower.patches_per_token = merge * merge;
  if (fields.Has("window_size")) {
    const int64_t side = fields.Size({"window_size"}) / fields.Size({"patch_size"});
    tower.window = side * side;
    tower.windowed_layers =
        std::max<int64_t>(0, tower.layers - fields.Length("fullatt_block_indexes"));
  }
  AddMerger(tower, merge, fields.Size({"out_hidden_size"}), tower.projector);
  tower.norm_elements = tower.hidden;
}

void ReadKimi(TowerFields& fields, int64_t hidden, Tower& tower) {
  constexpr int64_t kMerge = 2;
  tower.biases = true;
  tower.patch_bias = true;
  tower.positions = fields.Size({"init_pos_emb_height"}) * fields.Size({"init_pos_emb_width"});
  tower.patches_per_token = kMerge * kMerge;
  AddMerger(tower, kMerge, fields.SizeOr("text_hidden_size", hidden), tower.projector);
  tower.norm_elements = 4 * tower.hidden;  // behind the last block and before the projector
}

void ReadSiglip(TowerFields& fields, const json& wrapper, int64_t hidden, Tower& tower) {
  const int64_t side = fields.Size({"image_size"}) / fields.Size({"patch_size"});
  tower.biases = true;
  tower.patch_bias = true;
  tower.positions = side * side;
  const int64_t tokens = TowerFields(wrapper).SizeOr("mm_tokens_per_image", 0);
  if (tokens > 0) {
    tower.patches_per_token = tower.positions / tokens;
    tower.tokens_per_image = tokens;
  }
  tower.projector.push_back({tower.hidden, hidden, false});
  tower.norm_elements = 3 * tower.hidden;
}

void ReadPixtral(const json& wrapper, int64_t hidden, Tower& tower) {
  const int64_t merge = TowerFields(wrapper).SizeOr("spatial_merge_size", 1);
  const bool bias = wrapper.value("multimodal_projector_bias", json()) == true;
  tower.gated = true;
  tower.norm = TowerNorm::kRms;
  tower.patches_per_token = merge * merge;
  tower.projector = {{tower.hidden * merge * merge, tower.hidden, false},
                     {tower.hidden, hidden, bias},
                     {hidden, hidden, bias}};
  tower.norm_elements = 2 * tower.hidden;
}

void ReadGemma4(TowerFields& fields, const json& wrapper, int64_t hidden, Tower& tower) {
  const int64_t pooled = fields.SizeOr("pooling_kernel_size", 1);
  tower.gated = true;
  tower.norm = TowerNorm::kRmsSandwich;
  tower.positions = 2 * fields.Size({"position_embedding_size"});
  tower.patches_per_token = pooled * pooled;
  tower.tokens_per_image = TowerFields(wrapper).SizeOr("vision_soft_tokens_per_image", 0);
  tower.projector.push_back({tower.hidden, hidden, false});
}

std::optional<Tower> ReadVision(const json& config, const json& wrapper, int64_t hidden) {
  TowerFields fields(config);
  Tower tower = BlocksOf(fields);
  if (fields.Has("vt_hidden_size")) {
    ReadKimi(fields, hidden, tower);
  } else if (fields.Has("fullatt_block_indexes")) {
    ReadQwen2_5(fields, tower);
  } else if (fields.Has("num_position_embeddings")) {
    ReadQwen3(fields, tower);
  } else if (fields.Is("model_type", "siglip_vision_model")) {
    ReadSiglip(fields, wrapper, hidden, tower);
  } else if (fields.Is("model_type", "pixtral")) {
    ReadPixtral(wrapper, hidden, tower);
  } else if (fields.Is("model_type", "gemma4_vision")) {
    ReadGemma4(fields, wrapper, hidden, tower);
  } else {
    return std::nullopt;
  }
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
