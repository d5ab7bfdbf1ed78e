// ModelSpec is the model to train: a decoder-only transformer, as a list of layer groups.
//
// In a spec that passed Validate() every size is positive, there is at least one group, each holds
// at least one layer, and its heads are a multiple of its kv_heads.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "planner/spec/rope_scaling.h"

namespace meshwright::planner {

enum class AttentionKind : uint8_t {
  kGroupedQuery,  // multi-head and multi-query are its extremes
  kLatent  // DeepSeek-V2 (arXiv 2405.04434): keys and values are projected from one narrow latent
};
// Three matrices (SwiGLU) or two. ReLU keeps its result alone.
enum class FfnKind : uint8_t { kSwiGlu, kGelu, kRelu };
// Norms of the residual stream: RMSNorm, or LayerNorm with weight and bias, with a weight alone, or
// with neither.
enum class StreamNorm : uint8_t { kRms, kLayer, kLayerWithoutBias, kLayerPlain };
// How attention knows a token's position: queries and keys are rotated, a table is added to the
// embedding, a slope is added to the scores, or not at all.
enum class Positions : uint8_t { kRotary, kLearned, kAlibi, kNone };
// The order of norms and branches in a block: norms before attention and before the FFN; the same
// with the FFN parallel to attention, on the same input; that with one norm for both (GPT-J, Falcon
// 7B); or a norm after each of them, before its result is added (OLMo 2).
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
  int64_t window = 0;               // tokens that a query sees, including its own; 0: all before it
  // Llama 4: the sequence is cut into chunks of `window` tokens, and a query sees those of its own
  // chunk.
  bool chunked = false;
  bool sinks = false;  // GPT-OSS: a learned score of each head joins the softmax

  // For kLatent alone. Queries and keys have head_dim elements, of which rotary_dim are rotated;
  // all heads share the rotated part of a key.
  int64_t query_rank = 0;  // width of the queries' latent; 0: projected from the hidden state
  int64_t kv_rank = 0;     // width of the latent of keys and values
  int64_t rotary_dim = 0;
  int64_t value_dim = 0;  // elements of a head's values

  bool is_latent() const { return kind == AttentionKind::kLatent; }
  int64_t query_width() const { return heads * head_dim; }
  int64_t key_width() const { return kv_heads * head_dim; }  // values' width too, unless latent

  friend bool operator==(const Attention&, const Attention&) = default;
};

// How a router normalises a token's scores: softmax over the experts, or a sigmoid of each.
enum class RouterScore : uint8_t { kSoftmax, kSigmoid };

// Mixture of experts: a router picks `top_k` of `count` FFNs for each token.
struct Experts {
  int64_t count = 0;  // 0: one FFN serves all tokens
  int64_t top_k = 0;
  int64_t shared_hidden = 0;  // width of a parallel FFN that every token passes; 0: none
  bool shared_gate = false;   // Qwen2-MoE: the hidden state weighs its result
  RouterScore score = RouterScore::kSoftmax;
  bool router_bias = false;     // GPT-OSS: of the router's projection
  bool selection_bias = false;  // DeepSeek-V3: added when picking, not trained by gradients
  // Its change after a step, up or down: DeepSeek-V3's value, and Megatron-LM's default.
  double bias_update_rate = 1e-3;
  int64_t groups = 1;  // of experts; a token takes experts from `top_groups` of them
  int64_t top_groups = 1;
  double capacity_factor = 0.0;  // most tokens of an expert, over its even share; 0: no limit
  // Weights of two auxiliary losses of the router; 0: none. The first penalises sending a
  // sequence's tokens to few experts, the second large logits.
  double balance_loss = 0.0;
  double z_loss = 0.0;

  // Returns the number of best scores whose sum ranks a group: two as in DeepSeek-V3 (arXiv
  // 2412.19437, section 2.1.2), one for softmax scores as in DeepSeek-V2.
  int64_t group_best() const {
    return score == RouterScore::kSigmoid ? std::min<int64_t>(2, count / groups) : 1;
  }
  // Returns the slots of a sequence that one expert takes where there is a capacity factor.
  int64_t capacity(int64_t seq_len) const;

  friend bool operator==(const Experts&, const Experts&) = default;
};

struct Ffn {
  FfnKind kind = FfnKind::kSwiGlu;
  int64_t hidden = 0;  // inner width; with experts, that of each expert
  bool bias = false;   // of each of its matrices
  // GPT-OSS (`swiglu_limit`): SwiGLU's gate and up are clamped to this value, the gate's sigmoid
  // has a slope of 1.702, and up counts as up + 1. 0: plain SwiGLU.
  double clamp = 0.0;
  Experts experts = {};

  bool gated() const { return kind == FfnKind::kSwiGlu; }
  bool has_experts() const { return experts.count > 0; }
  // Returns the width of the FFN that every token passes.
  int64_t dense_hidden() const { return has_experts() ? experts.shared_hidden : hidden; }

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
  bool embedding_norm = false;  // BLOOM: a norm right after the embedding
  StreamNorm norm = StreamNorm::kRms;
  Arrangement arrangement = Arrangement::kSequential;
  Positions positions = Positions::kRotary;
  int64_t learned_positions = 0;  // rows of the table, where positions are learned
  double rotary_share = 1.0;      // the share of a head's elements that are rotated
  double norm_epsilon = 1e-5;
  double rope_theta = 10000.0;
  RopeScaling rope_scaling = {};
  double initializer_range = 0.02;  // standard deviation of the matrices' initial values
  // DeepSeek-V3 (arXiv 2412.19437, section 2.2): layers after the last one, each with a projection
  // [hidden, 2 hidden] and the head once more, that predict tokens further ahead.
  int64_t mtp_layers = 0;
  std::vector<LayerGroup> groups;

  int64_t layers() const;
  bool has_experts() const;
  // Returns the group of layer `layer` of layers(), counted from 0.
  const LayerGroup& GroupOf(int64_t layer) const;

  friend bool operator==(const ModelSpec&, const ModelSpec&) = default;
};

// InvalidArgument naming the field, its value and what is accepted.
absl::Status Validate(const ModelSpec& model);

}  // namespace meshwright::planner
