// ModelSpec is the model to train: a decoder, as a list of layer groups.
//
// In a spec that passed Validate() there is at least one group, and each group has at least one
// layer. A layer has attention, a recurrence, an FFN, or several of these. The sizes of a layer's
// components are positive, and attention's number of heads is a multiple of its kv_heads.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "base/text/enum_names.h"
#include "planner/spec/recurrence.h"
#include "planner/spec/rope_scaling.h"
#include "planner/spec/tower.h"

namespace meshwright::planner {

enum class AttentionKind : uint8_t {
  kGroupedQuery,  // multi-head and multi-query are its extremes
  kLatent,  // DeepSeek-V2 (arXiv 2405.04434): keys and values are projected from one narrow latent
  kNone,    // the layer has no attention
  // DeepSeek-V4: all heads share one key of head_dim elements, which is the value too; each key
  // before the window stands for several tokens
  kCompressed
};
// kSwiGlu and kGeGlu have three matrices: the gate's product goes through SiLU or GELU and scales
// the up product. The other kinds have two. kReluSquared is the square of ReLU (Nemotron), kXielu
// is xIELU (Apertus, arXiv 2411.13010). For the backward, kRelu keeps only the result of ReLU. A
// layer with kNone has no FFN.
enum class FfnKind : uint8_t { kSwiGlu, kGelu, kRelu, kGeGlu, kReluSquared, kXielu, kNone };
inline constexpr EnumNames<FfnKind, 7> kFfnKindNames = {{
    {FfnKind::kSwiGlu, "swiglu"},
    {FfnKind::kGelu, "gelu"},
    {FfnKind::kRelu, "relu"},
    {FfnKind::kGeGlu, "geglu"},
    {FfnKind::kReluSquared, "relu2"},
    {FfnKind::kXielu, "xielu"},
    {FfnKind::kNone, "none"},
}};
// The norms of the residual stream. kRms is RMSNorm. kLayer is LayerNorm with weight and bias,
// kLayerWithoutBias with a weight alone, kLayerPlain with neither.
enum class StreamNorm : uint8_t { kRms, kLayer, kLayerWithoutBias, kLayerPlain };
// The way in which a token's position enters attention. kRotary rotates queries and keys, kLearned
// adds a table to the embedding, kAlibi adds a slope to the scores, and kNone does nothing.
enum class Positions : uint8_t { kRotary, kLearned, kAlibi, kNone };
// The order of norms and branches in a block. kSequential has norms before attention and before the
// FFN. kParallel has the FFN parallel to attention, on the same input. kParallelOneNorm does so
// with one norm for both (GPT-J, Falcon 7B). kNormBehind has a norm after attention and one after
// the FFN, each before the result is added (OLMo 2). kSandwich has norms before and after both
// (Gemma 2).
enum class Arrangement : uint8_t {
  kSequential,
  kParallel,
  kParallelOneNorm,
  kNormBehind,
  kSandwich
};

// How a layer works on several residual streams. With hyper-connections (arXiv 2409.19606)
// attention and the FFN each read a weighted sum of the streams and add to all of them. kUnmixed is
// hyper-connections whose streams do not mix with each other (Hunyuan V4). AltUp (arXiv 2301.13310,
// Gemma 3n) predicts all streams, runs the layer on one of them, and corrects all of them by what
// the layer changed.
enum class StreamKind : uint8_t { kHyperConnections, kUnmixed, kAltUp };

// The factor on attention's result before the output projection: none, a sigmoid as wide as the
// queries (Qwen3-Next), or a sigmoid for each head (Step-3). With kLatent (A.X K2), the factor is a
// sigmoid as wide as the values. This sigmoid and the queries are both projected from the queries'
// latent, concatenated with a normalised copy of the latent.
enum class AttentionGate : uint8_t { kNone, kWidth, kHeads, kLatent };

// Sparse attention by an index (DeepSeek-V3.2, arXiv 2512.02556): an indexer scores all keys before
// a query, and attention sees the `top_k` best.
struct SparseIndex {
  int64_t top_k = 0;  // keys that attention sees; 0: attention is not sparse
  int64_t heads = 0;  // heads of the indexer
  int64_t head_dim = 0;
  bool shared = false;       // the layer uses the keys that an earlier layer's indexer picked
  int64_t pooled_keys = 0;   // GLM-5-Next: tokens per index key; 0 means 1
  bool from_hidden = false;  // Mistral Large 4: index queries come from the hidden state

  bool exists() const { return top_k > 0; }

  friend bool operator==(const SparseIndex&, const SparseIndex&) = default;
};

struct Attention {
  AttentionKind kind = AttentionKind::kGroupedQuery;
  int64_t heads = 0;                // query heads; this and the sizes below are 0 for kNone
  int64_t kv_heads = 0;             // key/value heads; divides heads
  int64_t head_dim = 0;             // heads * head_dim may differ from ModelSpec::hidden
  bool qkv_bias = false;            // Qwen2: biases of the projections of queries, keys and values
  bool qk_norm = false;             // Qwen3: RMSNorm over head_dim of q and k
  bool qk_norm_over_width = false;  // OLMo 2: one norm over all heads of q, and one over those of k
  bool output_bias = false;         // whether the output projection has a bias
  // The newest tokens that a query sees, including its own; 0 if it sees all tokens before it.
  int64_t window = 0;
  // Llama 4: the sequence is cut into chunks of `window` tokens, and a query sees only tokens of
  // its own chunk.
  bool chunked = false;
  bool sinks = false;  // GPT-OSS: a learned score of each head joins the softmax

  // Elements of a head's values. 0, which only kGroupedQuery may have, stands for head_dim.
  int64_t value_dim = 0;

  // For kLatent alone. Queries and keys have head_dim elements, of which rotary_dim are rotated;
  // all heads share the rotated part of a key.
  int64_t query_rank = 0;  // width of the queries' latent; 0 if they come from the hidden state
  int64_t kv_rank = 0;     // width of the latent of keys and values
  int64_t rotary_dim = 0;

  AttentionGate gate = AttentionGate::kNone;
  bool value_norm = false;       // Gemma 4: RMSNorm without weights over head_dim of v
  bool shares_keys = false;      // Gemma 4: the layer reuses an earlier layer's keys and values
  bool values_are_keys = false;  // Gemma 4 (`attention_k_eq_v`): there is no projection of values
  SparseIndex index = {};        // for kLatent, and for kCompressed if an index picks keys
  // Inkling: scores depend on the key's distance from the query. Each query head has `relative_dim`
  // numbers for this, and each of `relative_positions` distances has as many learned numbers. Both
  // are 0 if scores do not depend on the distance.
  int64_t relative_dim = 0;
  int64_t relative_positions = 0;
  // The number of tokens that each convolution over tokens sees; 0 if there is no such convolution.
  // Inkling convolves keys and values channel by channel. Zaya (arXiv 2510.04476) convolves queries
  // and keys, first channel by channel and then head by head.
  int64_t key_value_conv = 0;
  int64_t query_key_conv = 0;
  int64_t head_conv = 0;

  // For kCompressed alone.
  int64_t compress_ratio = 0;  // tokens per key before the window; 0 if there are no such keys
  int64_t output_groups = 0;   // groups of heads, each of which is projected to a latent
  int64_t output_rank = 0;     // width of such a latent

  bool exists() const { return kind != AttentionKind::kNone; }
  bool is_latent() const { return kind == AttentionKind::kLatent; }
  int64_t query_width() const { return heads * head_dim; }
  int64_t key_width() const { return kv_heads * head_dim; }  // also of values, if value_dim is 0

  friend bool operator==(const Attention&, const Attention&) = default;
};

// The normalisation of a token's router scores: softmax over the experts, or a sigmoid of each.
enum class RouterScore : uint8_t { kSoftmax, kSigmoid };

// Mixture of experts: a router picks `top_k` of `count` FFNs for each token.
struct Experts {
  int64_t count = 0;  // 0: one FFN serves all tokens
  int64_t top_k = 0;
  int64_t shared_hidden = 0;  // width of a parallel FFN for all tokens; 0 if none
  bool shared_gate = false;   // Qwen2-MoE: a gate weighs the result of this FFN
  RouterScore score = RouterScore::kSoftmax;
  bool router_bias = false;     // GPT-OSS: bias of the router's projection
  bool selection_bias = false;  // DeepSeek-V3: only for picking experts; no gradients train it
  // Width of the latent that the experts work on (Nemotron 3 Super). Two projections, which are
  // applied to every token, lead to the latent and back. 0 if the experts work on the hidden state.
  int64_t latent = 0;
  bool latent_norms =
      false;  // Muse Spark: a norm before and one after the experts, over the latent
  // The amount by which a selection bias moves up or down after a step. The default is the value of
  // DeepSeek-V3, and Megatron-LM's default.
  double bias_update_rate = 1e-3;
  // Zaya: the width of an MLP of three products that scores the experts from a projection of the
  // token; 0 if one product scores them.
  int64_t router_hidden = 0;
  int64_t router_extra = 0;  // scores for no expert, or for shared experts
  int64_t groups = 1;        // groups of experts; a token takes experts from `top_groups` of them
  int64_t top_groups = 1;
  double capacity_factor = 0.0;  // most tokens of an expert, over its even share; 0 if no limit
  // Weights of two auxiliary losses of the router; 0 means no such loss. balance_loss penalises
  // sending a sequence's tokens to few experts, z_loss penalises large logits.
  double balance_loss = 0.0;
  double z_loss = 0.0;

  // Returns how many of a group's best scores are added up to rank the group: two for sigmoid
  // scores, as in DeepSeek-V3 (arXiv 2412.19437, section 2.1.2), and one for softmax scores, as in
  // DeepSeek-V2.
  int64_t group_best() const {
    return score == RouterScore::kSigmoid ? std::min<int64_t>(2, count / groups) : 1;
  }
  // Returns how many of a sequence's slots one expert accepts under the capacity factor. A slot is
  // one of the top_k picks of a token.
  int64_t capacity(int64_t seq_len) const;

  friend bool operator==(const Experts&, const Experts&) = default;
};

// Returns whether an FFN of this kind has a gate, and so three matrices.
constexpr bool IsGated(FfnKind kind) { return kind == FfnKind::kSwiGlu || kind == FfnKind::kGeGlu; }

struct Ffn {
  FfnKind kind = FfnKind::kSwiGlu;
  int64_t hidden = 0;  // inner width of the FFN, or of each expert if there are experts
  bool bias = false;   // whether each of its matrices has a bias
  // GPT-OSS (`swiglu_limit`): SwiGLU's gate and up are clamped to this value, the gate's sigmoid
  // has a slope of 1.702, and up counts as up + 1. 0 means plain SwiGLU.
  double clamp = 0.0;
  Experts experts = {};

  bool exists() const { return kind != FfnKind::kNone; }
  bool gated() const { return IsGated(kind); }
  bool has_experts() const { return experts.count > 0; }
  // Returns the width of the FFN that is applied to every token.
  int64_t dense_hidden() const { return has_experts() ? experts.shared_hidden : hidden; }

  friend bool operator==(const Ffn&, const Ffn&) = default;
};

inline constexpr Attention kNoAttention{.kind = AttentionKind::kNone};
inline constexpr Ffn kNoFfn{.kind = FfnKind::kNone};

// Zamba2 (arXiv 2411.15242): a layer's attention and FFN are one block whose weights several layers
// share. Attention reads the hidden state and the token's embedding side by side. The block has no
// residual; a projection [hidden, hidden] of the layer's own adds its result to the input of the
// layer's recurrence.
struct SharedBlock {
  bool runs = false;          // whether the layer has such a block
  bool owns_weights = false;  // whether this layer is the first that runs the block's weights
  // The rank of the layer's own low-rank matrices beside the FFN's first product; 0 if there are
  // none.
  int64_t adapter_rank = 0;
  bool adapts_attention = false;  // whether q, k and v have such matrices too

  friend bool operator==(const SharedBlock&, const SharedBlock&) = default;
};

// `count` consecutive layers of the same shape. If a layer has both attention and a recurrence,
// both read the same norm's output, and their results are added up, unless the attention is part of
// a shared block.
struct LayerGroup {
  Attention attention = {};
  Ffn ffn = {};
  int64_t count = 0;
  Recurrence recurrence = {};
  SharedBlock shared_block = {};

  bool mixes() const { return attention.exists() || recurrence.exists(); }
  bool SameShape(const LayerGroup& other) const {
    return attention == other.attention && ffn == other.ffn && recurrence == other.recurrence &&
           shared_block == other.shared_block;
  }
  friend bool operator==(const LayerGroup&, const LayerGroup&) = default;
};

// A key of a config.json, with its value. The key changes what a model computes, but neither the
// model's memory nor its step time. Examples are a multiplier, a soft cap and a scaling of
// positions.
struct SetAsideKey {
  std::string key;
  std::string value;

  friend bool operator==(const SetAsideKey&, const SetAsideKey&) = default;
};

// Names a part of a model (planner/profile/model_part.h), and the key of the config.json that
// requires this part, with the key's value. The key is spelled as in the file.
struct PartKey {
  std::string part;
  std::string key;
  std::string value;
};

// The keys by which a model's file describes the model. Models are equal whatever keys describe
// them.
struct FileKeys {
  std::string model_type;
  std::vector<PartKey> of_parts;  // without parts that only the model_type requires

  friend bool operator==(const FileKeys& /*a*/, const FileKeys& /*b*/) { return true; }
};

struct ModelSpec {
  std::string name;
  int64_t hidden = 0;
  int64_t vocab = 0;
  bool tied_embeddings = false;
  bool head_bias = false;       // whether the projection to the vocabulary has a bias
  bool embedding_norm = false;  // BLOOM: a norm right after the embedding
  StreamNorm norm = StreamNorm::kRms;
  Arrangement arrangement = Arrangement::kSequential;
  Positions positions = Positions::kRotary;
  int64_t learned_positions = 0;  // rows of the position table; only for kLearned
  double rotary_share = 1.0;      // the share of a head's elements that are rotated
  double norm_epsilon = 1e-5;
  double rope_theta = 10000.0;
  RopeScaling rope_scaling = {};
  double initializer_range = 0.02;  // standard deviation of the matrices' initial values
  // Layers after the last one that predict tokens further ahead. Each has a projection [hidden, 2
  // hidden] and uses the head once more (DeepSeek-V3, arXiv 2412.19437, section 2.2).
  int64_t mtp_layers = 0;
  // The shape of each of these layers, with count 1; if absent, the shape of the last group. In
  // Nemotron 3 this shape has both attention and experts, although every other layer of the model
  // has only one of them.
  std::optional<LayerGroup> mtp_layer = std::nullopt;
  int64_t residual_streams = 1;  // the width of the residual stream in hidden states
  StreamKind stream_kind = StreamKind::kHyperConnections;
  // Inkling convolves the results of attention and of the FFN over tokens, channel by channel. The
  // number of tokens that each convolution sees; 0 if there are no such convolutions.
  int64_t branch_conv = 0;
  // A.X K2: the rank of the gate on the result of attention's norm, and of the FFN's norm if the
  // FFN has experts; 0 if there is none.
  int64_t norm_gate_rank = 0;
  bool residual_scales = false;  // Zaya: weights and biases of both terms of each residual sum
  // Gemma 3n: the rank of a learned residual beside attention (LAuReL, arXiv 2411.07501); 0 if
  // there is none.
  int64_t laurel_rank = 0;
  bool merges_streams = false;  // DeepSeek-V4: a product merges the streams after the last layer
  // Gemma 3n and 4: the width of an embedding that each layer has of its own, for
  // `layer_input_vocab` tokens. 0 if there is no such embedding.
  int64_t layer_input = 0;
  int64_t layer_input_vocab = 0;
  std::vector<LayerGroup> groups;
  std::vector<Tower> towers;           // encoders beside the language model; they train too
  std::vector<SetAsideKey> set_aside;  // keys that launch flags would also have to set
  FileKeys file;                       // only for error messages, which name keys

  int64_t layers() const;
  bool has_experts() const;
  // Return the attention of the first layer that has attention, and the FFN of the first layer that
  // has an FFN; kNoAttention or kNoFfn if no layer has one.
  const Attention& FirstAttention() const;
  const Ffn& FirstFfn() const;
  // Returns the shape of the multi-token-prediction (MTP) layers.
  const LayerGroup& MtpLayer() const { return mtp_layer ? *mtp_layer : groups.back(); }
  // Returns the group of layer `layer`, counted from 0. REQUIRES: layer < layers().
  const LayerGroup& GroupOf(int64_t layer) const;

  friend bool operator==(const ModelSpec&, const ModelSpec&) = default;
};

// Returns InvalidArgument, with the field, its value and what is accepted, if a field is out of
// range.
absl::Status Validate(const ModelSpec& model);

}  // namespace meshwright::planner
