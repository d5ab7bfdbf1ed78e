#include "planner/catalog/tower_kinds.h"

#include <algorithm>

namespace meshwright::planner {
namespace {

using nlohmann::json;

constexpr int64_t kUsualPixels = 224;  // of CLIP and SigLIP, whose files may leave them out

// Patches along one side of an image.
int64_t Side(TowerFields& fields) {
  const int64_t pixels = fields.Has("image_size") ? fields.Size({"image_size"}) : kUsualPixels;
  return pixels / fields.Size({"patch_size"});
}

// SigLIP's head: one query, made of a learned vector, attends to all patches, and an FFN follows.
void AddHead(Tower& tower) {
  const int64_t h = tower.hidden;
  tower.projector.push_back({h, 3 * h, true});
  tower.projector.push_back({h, h, true});
  tower.projector.push_back({h, tower.ffn_hidden, true});
  tower.projector.push_back({tower.ffn_hidden, h, true});
  tower.norm_elements += 3 * h;
}

void AddTwoProducts(const json& wrapper, int64_t hidden, Tower& tower) {
  const bool bias = TowerFields(wrapper).IsOnOr("multimodal_projector_bias", true);
  tower.projector.push_back({tower.hidden, hidden, bias});
  tower.projector.push_back({hidden, hidden, bias});
  // The vector at the end of each row of patches, where an image is cut into tiles.
  if (TowerFields(wrapper).Has("image_grid_pinpoints")) tower.norm_elements += hidden;
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

void ReadQwen2_5(TowerFields& fields, const json& wrapper, Tower& tower) {
  // HyperCLOVA X projects the results once more.
  if (TowerFields(wrapper).StartsWith("model_type", "hyperclovax")) fields.Fail();
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
  tower.positions = fields.Size({"init_pos_emb_height", "pos_emb_height"}) *
                    fields.Size({"init_pos_emb_width", "pos_emb_width"});
  tower.patches_per_token = kMerge * kMerge;
  AddMerger(tower, kMerge, fields.SizeOr("text_hidden_size", hidden), tower.projector);
  tower.norm_elements = 4 * tower.hidden;  // behind the last block and before the projector
}

// Gemma 3 has a norm before its projector, PaliGemma a bias in it, LLaVA two products.
void ReadSiglip(TowerFields& fields, const json& wrapper, int64_t hidden, Tower& tower) {
  const TowerFields around(wrapper);
  const int64_t side = Side(fields);
  tower.biases = true;
  tower.patch_bias = true;
  tower.positions = side * side;
  tower.norm_elements = 2 * tower.hidden;
  const int64_t tokens = around.SizeOr("mm_tokens_per_image", 0);
  if (tokens > 0) {
    tower.patches_per_token = tower.positions / tokens;
    tower.tokens_per_image = tokens;
  }
  if (fields.IsOnOr("vision_use_head", true)) AddHead(tower);
  if (around.Is("model_type", "paligemma")) {
    tower.projector.push_back({tower.hidden, hidden, true});
  } else if (around.StartsWith("model_type", "llava")) {
    AddTwoProducts(wrapper, hidden, tower);
  } else if (around.Has("alignment_intermediate_size")) {  // Cohere's gate halves the width
    const int64_t width = around.SizeOr("alignment_intermediate_size", 0);
    const int64_t merge = around.SizeOr("downsample_factor", 1);
    tower.patches_per_token = merge * merge;
    tower.projector.push_back({tower.hidden * merge * merge, width, true});
    tower.projector.push_back({width / 2, hidden, true});
  } else if (tokens > 0) {
    tower.norm_elements += tower.hidden;
    tower.projector.push_back({tower.hidden, hidden, false});
  } else {
    fields.Fail();
  }
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

// CLIP has a learned vector beside its patches, and norms before and behind its blocks.
void ReadClip(TowerFields& fields, const json& wrapper, int64_t hidden, Tower& tower) {
  const int64_t side = Side(fields);
  tower.biases = true;
  tower.positions = side * side + 1;
  tower.norm_elements = 5 * tower.hidden;
  if (!TowerFields(wrapper).StartsWith("model_type", "llava")) fields.Fail();
  AddTwoProducts(wrapper, hidden, tower);
}

void ReadIdefics3(TowerFields& fields, const json& wrapper, int64_t hidden, Tower& tower) {
  const int64_t side = Side(fields);
  const int64_t merge = TowerFields(wrapper).SizeOr("scale_factor", 0);
  if (merge < 1) fields.Fail();
  tower.biases = true;
  tower.patch_bias = true;
  tower.positions = side * side;
  tower.patches_per_token = merge * merge;
  tower.projector.push_back({tower.hidden * merge * merge, hidden, false});
  tower.norm_elements = 2 * tower.hidden;
}

void ReadSiglip2(TowerFields& fields, const json& wrapper, int64_t hidden, Tower& tower) {
  const TowerFields around(wrapper);
  const int64_t merge = around.SizeOr("downsample_factor", 1);
  const int64_t merged = tower.hidden * merge * merge;
  const int64_t width = around.SizeOr("projector_hidden_size", 0);
  if (width < 1) fields.Fail();
  const bool bias = around.IsOnOr("projector_bias", true);
  tower.biases = true;
  tower.patch_bias = true;
  tower.positions = fields.Size({"num_patches"});
  tower.patches_per_token = merge * merge;
  tower.norm_elements = 2 * tower.hidden;
  if (around.IsOnOr("projector_use_layernorm", true)) tower.norm_elements += 2 * merged;
  if (fields.IsOnOr("vision_use_head", true)) AddHead(tower);
  tower.projector.push_back({merged, width, bias});
  tower.projector.push_back({width, hidden, bias});
}

// Llama 4 puts patches together by pixels: `projector_input_dim` is the adapter's width.
void ReadLlama4(TowerFields& fields, int64_t hidden, Tower& tower) {
  const int64_t side = Side(fields);
  const int64_t width = fields.Size({"projector_input_dim"});
  tower.biases = true;
  tower.positions = side * side + 1;
  tower.patches_per_token = 4;
  tower.norm_elements = 5 * tower.hidden;
  tower.projector = {{fields.Size({"intermediate_size"}), width, false},
                     {width, fields.Size({"projector_output_dim"}), false},
                     {fields.Size({"vision_output_dim"}), hidden, false}};
}

void ReadMiniMaxM3(TowerFields& fields, const json& wrapper, int64_t hidden, Tower& tower) {
  const int64_t merge = fields.Size({"spatial_merge_size"});
  const int64_t width = TowerFields(wrapper).SizeOr("projector_hidden_size", hidden);
  tower.biases = true;
  tower.patches_per_token = merge * merge;
  tower.norm_elements = 2 * tower.hidden;
  tower.projector = {{tower.hidden, width, true},
                     {width, hidden, true},
                     {hidden * merge * merge, width, true},
                     {width, hidden, true}};
}

// Two convolutions over 3 x 3 patches, each of which halves both sides, follow the blocks.
void ReadStep(TowerFields& fields, const json& wrapper, int64_t hidden, Tower& tower) {
  constexpr int64_t kWindow = 9;
  const int64_t h = tower.hidden;
  const int64_t side = Side(fields);
  tower.biases = true;
  tower.positions = fields.SizeOr("max_position_embeddings", side * side);
  tower.patches_per_token = 16;
  tower.norm_elements = 2 * h + 2 * h * tower.layers;  // with a scale for each half of a block
  tower.projector = {{kWindow * h, 2 * h, true},
                     {kWindow * 2 * h, 4 * h, true},
                     {4 * h, hidden, TowerFields(wrapper).IsOnOr("projector_bias", false)}};
}

// A product over merge^2 patches, then one more and a gated FFN.
void AddGatedMerger(TowerFields& fields, int64_t ffn, Tower& tower) {
  const int64_t merge = fields.Size({"spatial_merge_size"});
  const int64_t width = fields.Size({"out_hidden_size"});
  tower.gated = true;
  tower.norm = TowerNorm::kRms;
  tower.patch_bias = true;
  tower.patches_per_token = merge * merge;
  tower.norm_elements = tower.hidden + 2 * width;
  tower.projector = {{merge * merge * tower.hidden, width, true},
                     {width, width, false},
                     {width, ffn, false},
                     {width, ffn, false},
                     {ffn, width, false}};
}

// The blocks of GLM-4.1V are as wide inside as the language model, and its merger is as
// `intermediate_size` says.
void ReadGlm4(TowerFields& fields, Tower& tower) {
  const int64_t side = Side(fields);
  AddGatedMerger(fields, tower.ffn_hidden, tower);
  tower.ffn_hidden = fields.Size({"out_hidden_size"});
  tower.biases = fields.IsOnOr("attention_bias", false);
  tower.positions = side * side;
  tower.norm_elements += tower.hidden;
}

void ReadGlm5(TowerFields& fields, Tower& tower) {
  const int64_t width = fields.Size({"out_hidden_size"});
  AddGatedMerger(fields, fields.SizeOr("projection_intermediate_size", 3 * width), tower);
  tower.biases = fields.IsOnOr("attention_bias", true);
  tower.norm_elements += 2 * tower.layers * (tower.hidden / tower.heads);
}

// Qwen2-VL says the width of its blocks as `embed_dim`, and that of the language model as
// `hidden_size`.
void ReadQwen2(TowerFields& fields, int64_t hidden, Tower& tower) {
  const int64_t merge = fields.Size({"spatial_merge_size"});
  tower.hidden = fields.Size({"embed_dim"});
  tower.ffn_hidden = tower.hidden * fields.Size({"mlp_ratio"});
  tower.biases = true;
  tower.patches_per_token = merge * merge;
  AddMerger(tower, merge, fields.SizeOr("hidden_size", hidden), tower.projector);
  tower.norm_elements = 2 * tower.hidden;
}

// Muse's adapter works on merge^2 patches that are put together.
void ReadMuse(TowerFields& fields, const json& wrapper, int64_t hidden, Tower& tower) {
  const int64_t merge = fields.Size({"merge_size"});
  const int64_t width = TowerFields(wrapper).SizeOr("projector_hidden_size", 0);
  if (width < 1) fields.Fail();
  tower.biases = true;
  tower.patch_inputs *= fields.SizeOr("patch_temporal", 1);
  tower.positions = fields.Size({"pos_emb_height"}) * fields.Size({"pos_emb_width"});
  tower.patches_per_token = merge * merge;
  tower.norm_elements = 4 * tower.hidden;
  tower.projector = {
      {merge * merge * tower.hidden, width, false}, {width, width, false}, {width, hidden, false}};
}

// A convolutional patch, learned positions and one learned vector; patches are put together before
// two products.
void ReadInternVl(TowerFields& fields, const json& wrapper, int64_t hidden, Tower& tower) {
  constexpr int64_t kMerge = 2;
  const int64_t side = Side(fields);
  const int64_t merged = tower.hidden * kMerge * kMerge;
  tower.biases = true;
  tower.patch_bias = true;
  tower.positions = side * side + 1;
  tower.patches_per_token = kMerge * kMerge;
  tower.norm_elements = tower.hidden + 2 * merged;
  // Each half of a block has a scale. Blocks without biases of queries, keys and values would have
  // three vectors less, and count without the scales.
  if (fields.IsOnOr("attention_bias", false))
    tower.norm_elements += 2 * tower.hidden * tower.layers;
  tower.projector = {{merged, hidden, true}, {hidden, hidden, true}};
  if (TowerFields(wrapper).Has("select_layer")) fields.Fail();  // a projector of its own
}

}  // namespace

void ReadTowerKind(const json& wrapper, int64_t hidden, TowerFields& fields, Tower& tower) {
  const auto is = [&fields](const char* type) { return fields.Is("model_type", type); };
  if (fields.Has("qkv_hidden_size") ||
      fields.SizeOr("num_key_value_heads", tower.heads) != tower.heads) {
    fields.Fail();  // attention that is not as wide as the blocks
  } else if (fields.Has("vt_hidden_size") || is("kimi_k25_vision") || is("moonvit")) {
    ReadKimi(fields, hidden, tower);
  } else if (fields.Has("fullatt_block_indexes")) {
    ReadQwen2_5(fields, wrapper, tower);
  } else if (fields.Has("embed_dim") && fields.Has("spatial_merge_size")) {
    ReadQwen2(fields, hidden, tower);
  } else if (is("glm5_next_vision") || is("glm_ocr_vision")) {
    ReadGlm5(fields, tower);
  } else if (fields.StartsWith("model_type", "glm4") || is("glmga_vision")) {
    ReadGlm4(fields, tower);
  } else if (is("muse_spark_vision") || is("muse_glimmer_vision")) {
    ReadMuse(fields, wrapper, hidden, tower);
  } else if (is("minimax_m3_vl_vision") ||
             TowerFields(wrapper).StartsWith("model_type", "minimax_m3")) {
    ReadMiniMaxM3(fields, wrapper, hidden, tower);
  } else if (is("siglip_vision_model")) {
    ReadSiglip(fields, wrapper, hidden, tower);
  } else if (is("siglip2_vision_model")) {
    ReadSiglip2(fields, wrapper, hidden, tower);
  } else if (is("clip_vision_model")) {
    ReadClip(fields, wrapper, hidden, tower);
  } else if (fields.StartsWith("model_type", "idefics3") ||
             fields.StartsWith("model_type", "smolvlm")) {
    ReadIdefics3(fields, wrapper, hidden, tower);
  } else if (is("llama4_vision_model")) {
    ReadLlama4(fields, hidden, tower);
  } else if (is("step3p5_vision")) {
    ReadStep(fields, wrapper, hidden, tower);
  } else if (is("internvl_vision")) {
    ReadInternVl(fields, wrapper, hidden, tower);
  } else if (is("pixtral")) {
    ReadPixtral(wrapper, hidden, tower);
  } else if (is("gemma4_vision")) {
    ReadGemma4(fields, wrapper, hidden, tower);
  } else if (fields.Has("num_position_embeddings") && fields.Has("out_hidden_size")) {
    ReadQwen3(fields, tower);
  } else {
    fields.Fail();
  }
}

}  // namespace meshwright::planner
