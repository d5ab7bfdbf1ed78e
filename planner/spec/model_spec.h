// The model to train: a decoder-only transformer, as a list of layer groups.
//
// Callers may rely on a spec that passed Validate(): every size is positive, heads is a multiple of
// kv_heads, and the groups hold at least one layer.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "planner/spec/rope_scaling.h"

namespace meshwright::planner {

enum class AttentionKind { kGroupedQuery };  // multi-head and multi-query are its two ends
enum class FfnKind { kSwiGlu, kGelu };       // three matrices, or two

// `count` consecutive layers of the same shape.
struct LayerGroup {
  AttentionKind attention = AttentionKind::kGroupedQuery;
  FfnKind ffn = FfnKind::kSwiGlu;
  int64_t ffn_hidden = 0;
  int64_t count = 0;

  friend bool operator==(const LayerGroup&, const LayerGroup&) = default;
};

struct ModelSpec {
  std::string name;
  int64_t hidden = 0;
  int64_t heads = 0;     // query heads
  int64_t kv_heads = 0;  // key/value heads; divides heads
  int64_t head_dim = 0;  // heads * head_dim may differ from hidden
  int64_t vocab = 0;
  bool tied_embeddings = false;
  bool qkv_bias = false;  // Qwen2
  bool qk_norm = false;   // Qwen3: RMSNorm over head_dim of q and k
  double norm_epsilon = 1e-5;
  double rope_theta = 10000.0;
  RopeScaling rope_scaling = {};
  double initializer_range = 0.02;  // standard deviation of the matrices' first values
  std::vector<LayerGroup> groups;

  int64_t layers() const;

  friend bool operator==(const ModelSpec&, const ModelSpec&) = default;
};

// InvalidArgument naming the field, its value and what would be accepted.
absl::Status Validate(const ModelSpec& model);

}  // namespace meshwright::planner
