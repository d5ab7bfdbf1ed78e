// The model to train: a decoder-only transformer, as a list of layer groups.
//
// Callers may rely on a spec that passed Validate(): every size is positive, there is a group, each
// holds at least one layer, and its heads are a multiple of its kv_heads.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "planner/spec/rope_scaling.h"

namespace meshwright::planner {

enum class AttentionKind : uint8_t {
  kGroupedQuery,  // multi-head and multi-query are its ends
  kLatent         // DeepSeek-V2 (arXiv 2405.04434): one narrow latent makes keys and values
};
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
  int64_t window = 0;               // tokens that a query sees, its own included; 0: all before it
  // Llama 4: the sequence is cut into chunks of `window` tokens, and a query sees those of its own.
  bool chunked = false;
  bool sinks = false;  // GPT-OSS: a learned score of each head joins the softmax

  // Of kLatent alone. Queries and keys have head_dim elements, of which rotary_dim are turned; the
  // turned part of a key is one for all heads.
  int64_t query_rank = 0;  // width of the latent that makes queries; 0: the hidden state does
  int64_t kv_rank = 0;     // width of the latent that makes keys and values
  int64_t rotary_dim = 0;
  int64_t value_dim = 0;  // elements of a head's values

  bool is_latent() const { return kind == AttentionKind::kLatent; }
  int64_t query_width() const { return heads * head_dim; }
  int64_t key_width() const { return kv_heads * head_dim; }  // of values too, unless latent
  // Elements of a query head and of a value head together: an attended key costs so many
  // multiplications.
  int64_t score_dim() const { return head_dim + (is_latent() ? value_dim : head_dim); }

  friend bool operator==(const Attention&, const Attention&) = default;
};

// What a router's scores of a token are divided by: their sum over experts, or nothing.
enum class RouterScore : uint8_t { kSoftmax, kSigmoid };

// Mixture of experts: a router picks `top_k` of `count` FFNs for each token.
struct Experts {
  int64_t count = 0;  // 0: the FFN is one for all tokens
  int64_t top_k = 0;
  int64_t shared_hidden = 0;  // width of an FFN beside them that every token passes; 0: none
  bool shared_gate = false;   // Qwen2-MoE: the hidden state decides how much of its result counts
  RouterScore score = RouterScore::kSoftmax;
  bool router_bias = false;     // GPT-OSS: of the router's projection
  bool selection_bias = false;  // DeepSeek-V3: added to scores to pick, not trained by gradients
  // By so much it goes up or down after a step: DeepSeek-V3's, and Megatron-LM's default.
  double bias_update_rate = 1e-3;
  int64_t groups = 1;  // of experts; a token takes them from `top_groups` of these
  int64_t top_groups = 1;
  double capacity_factor = 0.0;  // an expert takes so many times its even share; 0: all that come
  // Weights of two losses that keep a router in shape, beside the loss of the tokens; 0: none. The
  // first punishes what sends a sequence's tokens to few experts, the second large logits.
  double balance_loss = 0.0;
  double z_loss = 0.0;

  // Groups are ranked by the sum of so many best scores: DeepSeek-V3's (arXiv 2412.19437, section
  // 2.1.2) by two, softmax scores as DeepSeek-V2's by one.
  int64_t group_best() const {
    return score == RouterScore::kSigmoid ? std::min<int64_t>(2, count / groups) : 1;
  }
  // Slots of a sequence that one expert takes where there is a capacity factor.
  int64_t capacity(int64_t seq_len) const;

  friend bool operator==(const Experts&, const Experts&) = default;
};

struct Ffn {
  FfnKind kind = FfnKind::kSwiGlu;
  int64_t hidden = 0;  // its own width, between the matrices; with experts, of each of them
  bool bias = false;   // of each of its matrices
  // GPT-OSS (`swiglu_limit`): SwiGLU's gate and up are clamped to so much, the gate's sigmoid has a
  // slope of 1.702, and up counts as up + 1. 0: plain SwiGLU.
  double clamp = 0.0;
  Experts experts = {};

  bool gated() const { return kind == FfnKind::kSwiGlu; }
  bool has_experts() const { return experts.count > 0; }
  // Of the FFN that every token passes.
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
  // DeepSeek-V3 (arXiv 2412.19437, section 2.2): layers behind the last one, each with a projection
  // [hidden, 2 hidden] and the head once more, that predict tokens further ahead.
  int64_t mtp_layers = 0;
  std::vector<LayerGroup> groups;

  int64_t layers() const;
  bool has_experts() const;
  // The group of layer `layer` of layers(), counted from 0.
  const LayerGroup& GroupOf(int64_t layer) const;

  friend bool operator==(const ModelSpec&, const ModelSpec&) = default;
};

// InvalidArgument naming the field, its value and what would be accepted.
absl::Status Validate(const ModelSpec& model);

}  // namespace meshwright::planner
