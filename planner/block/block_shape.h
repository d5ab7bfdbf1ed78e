// BlockShape holds the inputs of the operators of a block, of the embedding and of the head: sizes
// of the model, numbers of ranks that share them, bytes per element, and differences between
// frameworks.
//
// WholeShape() fills a shape from the model; LayerShape() (planner/profile/layer_shape.h) adds what
// a layout and a profile change. For a layout that CheckLayout() accepts, no division here leaves a
// remainder.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

#include "planner/block/attention_tiles.h"
#include "planner/block/expert_rows.h"
#include "planner/spec/kernels.h"
#include "planner/spec/model_spec.h"
#include "planner/spec/quantisation.h"
#include "planner/spec/trained_parts.h"

namespace meshwright::planner {

// Describes how a run trains the units of a shape. ApplyTraining()
// (planner/block/trained_operators.h) derives from it what each operator computes.
struct BlockTraining {
  UnitTraining layer = UnitTraining::kTrained;
  UnitTraining embedding = UnitTraining::kTrained;
  UnitTraining head = UnitTraining::kTrained;
  Adapter adapter = {};  // adapter on the products of a frozen layer

  bool all() const { return *this == BlockTraining(); }

  friend bool operator==(const BlockTraining&, const BlockTraining&) = default;
};

// Returns how a run trains the embedding, the head and a layer whose training is `layer`.
inline BlockTraining TrainingOf(const TrainedParts& parts, UnitTraining layer) {
  return {.layer = layer,
          .embedding = parts.OfEmbedding(),
          .head = parts.OfHead(),
          .adapter = parts.adapter};
}

// The sizes of one rank's part of one micro-batch.
struct BlockShape {
  int64_t tokens = 0;  // tokens of the rank's part: micro-batch * seq_len / cp
  int64_t hidden = 0;
  int64_t heads = 0;     // query heads; this and the sizes below are the whole model's
  int64_t kv_heads = 0;  // each rank holds at least one: they are replicated if tp > kv_heads
  int64_t head_dim = 0;
  int64_t ffn_hidden = 0;  // width of the FFN that every token uses; 0 if there are only experts
  FfnKind ffn = FfnKind::kSwiGlu;
  Experts experts = {};
  int64_t expert_hidden = 0;  // FFN width of each expert
  int64_t element_bytes = 2;  // bytes of a weight or activation: 2 in bf16, 4 in fp32, 8 in fp64
  // The quantisation of the block's matrix products. The head's product is not quantised.
  Quantisation quantisation = {};
  // If true, Meshwright's own worker quantises the products. The bytes of the tensors are then
  // counted tile by tile (planner/block/scale_tiles.h).
  bool worker_quantises = false;
  // If true, Meshwright's worker runs the operators on a CPU; otherwise it runs them under CUDA.
  bool cpu_operators = true;
  int64_t tp = 1;
  int64_t ep = 1;
  int64_t etp = 1;
  // The number of tokens that reach this rank's experts, relative to the mean over all ranks.
  double expert_load = 1.0;
  // The time of a recurrence's convolution, core and norm, divided by the time that their memory
  // traffic alone would take.
  double recurrence_ratio = 1.0;
  // Measured routing. If set, it replaces the numbers of rows that follow from expert_load.
  std::optional<ExpertRows> expert_rows = std::nullopt;
  bool sequence_parallel = false;
  bool keeps_gathered_inputs = false;  // norm outputs stay whole under sequence parallelism
  bool fused_swiglu = true;            // silu(gate) is not kept on its own
  // If true, the FFN's product is kept; otherwise backward recomputes it from gate and up.
  bool keeps_ffn_product = true;
  bool head_norm = false;  // every query and key head is normalised before RoPE
  // If true, both the input and the output of the heads' norm are kept. Otherwise only the input is
  // kept, and backward recomputes the output.
  bool keeps_head_norm_input = true;
  // If true, latent attention keeps the keys of every head, each including the rotated part that
  // all heads share. Otherwise the projection of the latent and a single copy of the rotated part
  // are kept, and backward assembles the keys again.
  bool keeps_assembled_keys = true;
  double norm_extra_bytes = 0.0;  // bytes kept by both un-fused norms, per token and hidden element
  // Bytes kept by masks, biases and copies, per token and hidden element.
  double extra_bytes = 0.0;
  double score_bytes = 0.0;  // bytes kept per element of the score matrix
  // Bytes kept per token for each expert that the token goes to: its routing weight and its origin.
  // 0 stands for the lists that Meshwright's own worker keeps.
  double routing_bytes = 12.0;
  // If true, the experts' results are kept. Frameworks keep them if they multiply these results,
  // and not the inputs of the down projection, by the routing weights.
  bool keeps_expert_output = false;
  // If true, selective recompute drops norm outputs and the FFN's activation instead of the scores.
  bool selective_drops_operators = false;
  // If true, selective recompute keeps only the results of attention and of every second product.
  bool selective_alternates_products = false;
  // If true, recompute ends with the last tensor that backward reads.
  bool recompute_stops_early = false;
  int64_t keys = 0;             // the sequence length
  bool bidirectional = false;   // every query sees all keys, not only those before it
  int64_t document_tokens = 0;  // the mean length of documents in a sequence, or 0 for one document
  int64_t window = 0;           // number of newest keys that a query sees; 0: all keys before it
  bool chunked = false;         // a query sees the keys of its own chunk of `window` tokens instead
  bool sinks = false;
  AttentionKind attention_kind = AttentionKind::kGroupedQuery;
  int64_t value_dim = 0;  // elements of a head's values, or 0 for head_dim
  // The next three are for latent attention only and mean the same as in the model's Attention.
  int64_t query_rank = 0;
  int64_t kv_rank = 0;
  int64_t rotary_dim = 0;
  // The next seven members have the same meaning as in the model's Attention.
  AttentionGate attention_gate = AttentionGate::kNone;
  bool shares_keys = false;
  bool values_are_keys = false;
  SparseIndex index = {};
  int64_t compress_ratio = 0;
  int64_t output_groups = 0;
  int64_t output_rank = 0;
  Recurrence recurrence = {};
  SharedBlock shared_block = {};
  // Residual streams and per-layer inputs, as in ModelSpec.
  int64_t residual_streams = 1;
  StreamKind stream_kind = StreamKind::kHyperConnections;
  int64_t laurel_rank = 0;
  // The next three have the same meaning as in ModelSpec, and the five after them as in Attention.
  int64_t branch_conv = 0;
  int64_t norm_gate_rank = 0;
  bool residual_scales = false;
  int64_t relative_dim = 0;
  int64_t relative_positions = 0;
  int64_t key_value_conv = 0;
  int64_t query_key_conv = 0;
  int64_t head_conv = 0;
  bool merges_streams = false;
  int64_t layer_input = 0;
  int64_t layer_input_vocab = 0;
  int64_t layers = 0;  // the model's layers; set only if layers have inputs of their own
  int64_t cp = 1;
  bool qkv_bias = false;
  bool output_bias = false;
  bool ffn_bias = false;
  bool head_norm_over_width = false;  // one norm for all query heads and one for all key heads
  StreamNorm norm = StreamNorm::kRms;
  Arrangement arrangement = Arrangement::kSequential;
  Positions positions = Positions::kRotary;
  double rotary_share = 1.0;
  AttentionKernel attention = AttentionKernel::kFlash2;
  int64_t ring_gradient_bytes = 2;  // bytes per element of gradients in ring messages

  // For the embedding and the head:
  int64_t vocab = 0;  // vocabulary as the framework pads it for the ranks that divide it
  // The number of pipeline ranks over which the embedding and the head are divided, in addition to
  // the TP ranks: pp if the schedule divides the vocabulary, and otherwise 1.
  int64_t vocab_parts = 1;
  bool tied_embeddings = false;
  bool head_bias = false;
  bool embedding_norm = false;
  int64_t learned_positions = 0;    // rows of the position table that is added to the embedding
  bool vocab_parallel_loss = true;  // logits stay divided over the TP ranks
  int64_t loss_chunks = 1;          // chunks in which the head and the loss run, one after another

  BlockTraining training = {};

  // Device-memory traffic in bytes per element. Figures are for elements of 2 bytes and scale with
  // the element's size, except for score_traffic_bytes, which does not depend on this size.
  double norm_traffic_bytes = 4.0;           // forward of a norm
  double norm_backward_traffic_bytes = 6.0;  // backward of a norm
  double rope_traffic_bytes = 4.0;           // RoPE, in each direction
  double loss_traffic_bytes = 10.0;          // forward and backward of the loss together
  double accumulate_traffic_bytes = 0.0;     // adding a weight gradient to the accumulated one
  // Forward of the activation of experts with biases, or 0 if that activation is fused.
  double expert_bias_traffic_bytes = 0.0;
  double score_traffic_bytes = 0.0;  // forward pass over an fp32 score matrix

  // Returns the bytes of a statistic: 4 (fp32), or 8 if elements are fp64.
  int64_t accumulator_bytes() const { return element_bytes == 8 ? 8 : 4; }
  int64_t rank_heads() const { return heads / tp; }
  int64_t rank_kv_heads() const { return std::max<int64_t>(kv_heads / tp, 1); }
  int64_t query_width() const { return rank_heads() * head_dim; }
  int64_t key_width() const { return rank_kv_heads() * head_dim; }
  bool has_attention() const { return attention_kind != AttentionKind::kNone; }
  bool is_compressed() const { return attention_kind == AttentionKind::kCompressed; }
  bool mixes() const { return has_attention() || recurrence.exists(); }
  bool has_ffn() const { return ffn != FfnKind::kNone; }
  bool predicts_streams() const {
    return residual_streams > 1 && stream_kind == StreamKind::kAltUp;
  }
  // Returns the number of hidden states that are concatenated to form the input of attention's
  // projections.
  int64_t attention_inputs() const { return shared_block.runs ? 2 : 1; }
  // Returns the width on which the experts work.
  int64_t expert_input_width() const { return experts.latent > 0 ? experts.latent : hidden; }
  bool is_latent() const { return attention_kind == AttentionKind::kLatent; }
  // Returns the number of inputs of the projection from the queries' latent. With
  // AttentionGate::kLatent, its input is the latent concatenated with the latent's norm.
  int64_t query_inputs() const {
    return (attention_gate == AttentionGate::kLatent ? 2 : 1) * query_rank;
  }
  int64_t value_head_dim() const { return value_dim > 0 ? value_dim : head_dim; }
  int64_t value_width() const { return rank_kv_heads() * value_head_dim(); }
  // Returns the width of attention's output, the input of the output projection.
  int64_t attended_width() const { return rank_heads() * value_head_dim(); }
  // Returns true if keys are not kept, so that attention assembles them in forward and again in
  // backward.
  bool assembles_keys() const { return is_latent() && !keeps_assembled_keys; }
  // Returns the number of elements of one head's key and value, added together, that are projected
  // from the latent.
  int64_t latent_head_dim() const { return head_dim - rotary_dim + value_dim; }
  // Returns the width of the latents of queries, keys and values, without the rotated key.
  int64_t latent_width() const { return query_rank + kv_rank; }
  AttentionSpan attention_span() const {
    return {.seq_len = keys,
            .cp = static_cast<int32_t>(cp),
            .window = window,
            .chunked = chunked,
            .tile_queries = cpu_operators ? kWindowTileQueries : 0};
  }
  int64_t inner_width() const { return ffn_hidden / tp; }
  int64_t gate_up_width() const { return (IsGated(ffn) ? 2 : 1) * inner_width(); }
  bool is_parallel() const {
    return arrangement == Arrangement::kParallel || arrangement == Arrangement::kParallelOneNorm;
  }
  // Returns the number of statistics that a norm of the residual stream keeps per token: a
  // deviation and, for LayerNorm, a mean.
  int64_t norm_statistics() const { return norm == StreamNorm::kRms ? 1 : 2; }
  // Returns how many TP ranks share the residual stream's tokens.
  int64_t stream_ranks() const { return sequence_parallel ? tp : 1; }
  int64_t stream_tokens() const { return tokens / stream_ranks(); }

  int64_t vocab_ranks() const { return tp * vocab_parts; }
  bool has_experts() const { return experts.count > 0; }
  int64_t rank_experts() const { return experts.count / ep; }
  int64_t expert_width() const { return expert_hidden / etp; }
  int64_t expert_gate_up_width() const { return (IsGated(ffn) ? 2 : 1) * expert_width(); }
  bool lists_routing() const { return routing_bytes == 0.0; }
  // Returns whether experts work on tokens of other ranks.
  bool moves_rows() const { return ep * etp > 1; }
  // Returns the number of (token, expert) pairs of this rank's tokens: top_k for each token.
  int64_t slots() const { return stream_tokens() * experts.top_k; }
  // Returns the rows that a rank sends to experts: one for each (token, expert) pair. On average
  // the rank receives equally many rows, whatever ep is. If experts have a capacity, frameworks pad
  // their rows to it. Meshwright's worker pads nothing, and drops nothing if routing is balanced.
  int64_t sent_rows() const {
    if (expert_rows.has_value()) return expert_rows->sent;
    const bool pads = experts.capacity_factor > 0.0 && !lists_routing();
    return pads ? static_cast<int64_t>(static_cast<double>(slots()) * experts.capacity_factor)
                : slots();
  }
  // Returns the rows that each rank of an expert-tensor-parallel group contributes to the experts
  // that the group shares.
  int64_t padded_rows() const {
    if (expert_rows.has_value()) return expert_rows->padded;
    return static_cast<int64_t>(static_cast<double>(sent_rows()) * expert_load);
  }
  // Returns the rows that the experts of a rank work on.
  int64_t routed_rows() const {
    return expert_rows.has_value() ? expert_rows->routed : padded_rows() * etp;
  }

  friend bool operator==(const BlockShape&, const BlockShape&) = default;
};

// Returns the shape of a layer of `group`, and of the embedding and the head, in an undivided model
// for one token of a sequence of `keys` tokens.
BlockShape WholeShape(const ModelSpec& model, const LayerGroup& group, int64_t keys);

}  // namespace meshwright::planner
