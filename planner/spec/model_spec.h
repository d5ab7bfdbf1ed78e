// The model to train: a decoder-only transformer, as a list of layer groups.
//
// Callers may rely on a spec that passed Validate(): every size is positive, there is a group, each
// holds at least one layer, and its heads are a multiple of its kv_heads.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "planner/spec/rope_scaling.h"

namespace meshwright::planner {

enum class AttentionKind : uint8_t { kGroupedQuery };  // multi-head and multi-query are its ends
// Three matrices, or two. ReLU keeps its result alone.
enum class FfnKind : uint8_t { kSwiGlu, kGelu, kRelu };
// Norms of the residual stream: RMSNorm, or LayerNorm with weight and bias, with a weight alone, or
// with neither.
enum class StreamNorm : uint8_t { kRms, kLayer, kLayerWithoutBias, kLayerPlain };
// How attention knows where a token stands: queries and keys are turned, a table is added to the
// embedding, a slope is added to the scores, or not at all.
enum class Positions : uint8_t { kRotary, kLearned, kAlibi, kNone };
// Where norms stand in a block: before attention and before the FFN; the same with the FFN beside
// attention, on the same input; that with one norm for both (GPT-J, Falcon 7B); or behind each of
// them, before its result is added (OLMo 2).
enum class Arrangement : uint8_t { kSequential, kParallel, kParallelOneNorm, kNormBehind };

struct Attention {
  AttentionKind kind = AttentionKind::kGroupedQuery;
  int64_t heads = 0;                // query heads
  int64_t kv_heads = 0;             // key/value heads; divides heads
  int64_t head_dim = 0;             // heads * head_dim may differ from ModelSpec::hidden
  bool qkv_bias = false;            // Qwen2
  bool qk_norm = false;             // Qwen3: RMSNorm over head_dim of q and k
  bool qk_norm_over_width = false;  // OLMo 2: with qk_norm, over all heads of q, and of k, together
  bool output_bias = false;         // of the output projection

  int64_t query_width() const { return heads * head_dim; }
  int64_t key_width() const { return kv_heads * head_dim; }  // of values too

  friend bool operator==(const Attention&, const Attention&) = default;
};

struct Ffn {
  FfnKind kind = FfnKind::kSwiGlu;
  int64_t hidden = 0;  // its own width, between the matrices
  bool bias = false;   // of each of its matrices

  bool gated() const { return kind == FfnKind::kSwiGlu; }

  friend bool operator==(const Ffn&, const Ffn&) = default;
};

// `count` consecutive layers of the same shape.
struct LayerGroup {
  Attention attention = {};
  Ffn ffn = {};
  int64_t count = 0;

  friend bool operator==(const LayerGroup&, const LayerGroup&) = default;
};

struct ModelSpec {
  std::string name;
  int64_t hidden = 0;
  int64_t vocab = 0;
  bool tied_embeddings = false;
  bool head_bias = false;       // of the output projection to the vocabulary
  bool embedding_norm = false;  // BLOOM: a norm right behind the embedding
  StreamNorm norm = StreamNorm::kRms;
  Arrangement arrangement = Arrangement::kSequential;
  Positions positions = Positions::kRotary;
  int64_t learned_positions = 0;  // rows of the table, where positions are learned
  double rotary_share = 1.0;      // of a head's elements, which are turned
  double norm_epsilon = 1e-5;
  double rope_theta = 10000.0;
  RopeScaling rope_scaling = {};
  double initializer_range = 0.02;  // standard deviation of the matrices' first values
  std::vector<LayerGroup> groups;

  int64_t layers() const;
  // The group of layer `layer` of layers(), counted from 0.
  const LayerGroup& GroupOf(int64_t layer) const;

  friend bool operator==(const ModelSpec&, const ModelSpec&) = default;
};

// InvalidArgument naming the field, its value and what would be accepted.
absl::Status Validate(const ModelSpec& model);

}  // namespace meshwright::planner
