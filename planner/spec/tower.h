// Tower is an encoder of images beside a language model: blocks of a transformer, in which each
// patch attends to all patches of its image, and a projector to the language model's hidden width.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace meshwright::planner {

enum class TowerNorm : uint8_t {
  kLayer,       // LayerNorm with biases (Qwen3-VL, SigLIP, Kimi)
  kRms,         // RMSNorm (Qwen2.5-VL, Pixtral)
  kRmsSandwich  // RMSNorm before and behind each half, and over heads of q and k (Gemma 4)
};

// A matrix of the projector.
struct TowerProjection {
  int64_t inputs = 0;
  int64_t outputs = 0;
  bool bias = false;

  friend bool operator==(const TowerProjection&, const TowerProjection&) = default;
};

struct Tower {
  std::string key;  // of the config.json, such as vision_config
  int64_t layers = 0;
  int64_t hidden = 0;
  int64_t heads = 0;
  int64_t ffn_hidden = 0;
  bool gated = false;   // SwiGLU or GeGLU; otherwise GELU
  bool biases = false;  // of all products of a block
  TowerNorm norm = TowerNorm::kLayer;
  int64_t patch_inputs = 0;  // numbers of a patch: channels x frames x pixels
  bool patch_bias = false;
  int64_t positions = 0;  // rows of learned tables of positions
  int64_t patches_per_token = 1;
  std::vector<TowerProjection> projector = {};
  int64_t norm_elements = 0;  // of the norms outside of the blocks

  friend bool operator==(const Tower&, const Tower&) = default;
};

}  // namespace meshwright::planner
