// Tower is an encoder of images beside a language model: blocks of a transformer, in which each
// patch attends to all patches of its image, and a projector to the language model's hidden width.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

namespace meshwright::planner {

// The most tokens of an image in the language model if the model's file gives no number. The value
// is the limit of Qwen2.5-VL's processor: 16,384 tokens of 28 x 28 pixels.
inline constexpr int64_t kMostTokensOfAnImage = 16384;

enum class TowerNorm : uint8_t {
  kLayer,       // LayerNorm with biases (Qwen3-VL, SigLIP, Kimi)
  kRms,         // RMSNorm (Qwen2.5-VL, Pixtral)
  kRmsSandwich  // RMSNorm before and after attention and FFN, and over heads of q and k (Gemma 4)
};

// A matrix of the projector.
struct TowerProjection {
  int64_t inputs = 0;
  int64_t outputs = 0;
  bool bias = false;

  friend bool operator==(const TowerProjection&, const TowerProjection&) = default;
};

struct Tower {
  std::string key;  // key of the config.json, such as vision_config
  int64_t layers = 0;
  int64_t hidden = 0;
  int64_t heads = 0;
  int64_t ffn_hidden = 0;
  bool gated = false;   // SwiGLU or GeGLU; otherwise GELU
  bool biases = false;  // whether all products of a block have biases
  TowerNorm norm = TowerNorm::kLayer;
  int64_t patch_inputs = 0;  // numbers per patch: channels x frames x pixels
  bool patch_bias = false;
  int64_t positions = 0;  // rows of learned tables of positions
  int64_t patches_per_token = 1;
  int64_t tokens_per_image = 0;  // tokens of the language model; 0 if images differ in size
  // The number of layers in which a patch sees only the `window` patches of its window, not all
  // patches of its image.
  int64_t windowed_layers = 0;
  int64_t window = 0;
  std::vector<TowerProjection> projector = {};
  int64_t norm_elements = 0;  // elements of the norms outside of the blocks

  // Returns the number of patches that become `tokens` tokens of the language model.
  int64_t Patches(int64_t tokens) const { return tokens * patches_per_token; }
  // Returns how many patches a patch sees on average over the layers, if a sequence has `tokens`
  // tokens of images. An image has tokens_per_image tokens. If tokens_per_image is 0, the sequence
  // has one image of at most kMostTokensOfAnImage tokens, or several of kMostTokensOfAnImage tokens
  // each.
  int64_t KeysSeen(int64_t tokens) const {
    const int64_t of_image =
        Patches(std::min(tokens, tokens_per_image > 0 ? tokens_per_image : kMostTokensOfAnImage));
    if (windowed_layers == 0) return of_image;
    const int64_t all = (layers - windowed_layers) * of_image;
    return (all + windowed_layers * std::min(window, of_image)) / layers;
  }

  friend bool operator==(const Tower&, const Tower&) = default;
};

}  // namespace meshwright::planner
