// Everything that the operators of a block, of the embedding and of the head depend on: sizes, the
// rank's part of them, number formats, and what frameworks do differently.
//
// WholeShape() reads the model; planner/profile/layer_shape.h adds what a layout and a profile make
// of it. Nothing else fills a shape. Every division is without remainder for a layout that
// CheckLayout() accepts.
#pragma once

#include <algorithm>
#include <cstdint>

#include "planner/spec/kernels.h"
#include "planner/spec/model_spec.h"

namespace meshwright::planner {

// One rank's part of one micro-batch.
struct BlockShape {
  int64_t tokens = 0;  // micro-batch * seq_len / cp
  int64_t hidden = 0;
  int64_t heads = 0;     // of the model, over all TP ranks; likewise the next ones
  int64_t kv_heads = 0;  // a rank holds at least one: they are replicated where tp exceeds them
  int64_t head_dim = 0;
  int64_t ffn_hidden = 0;
  FfnKind ffn = FfnKind::kSwiGlu;
  int64_t element_bytes = 2;  // of weights and activations: 2 in bf16, 4 in fp32, 8 in fp64
  // Whether Meshwright's worker runs it with ATen's operators of a CPU, or else CUDA's.
  bool cpu_operators = true;
  int64_t tp = 1;
  bool sequence_parallel = false;
  bool keeps_gathered_inputs = false;  // norm outputs stay un-sharded under sequence parallel
  bool fused_swiglu = true;            // silu(gate) is not kept on its own
  bool head_norm = false;              // every query and key head is normed before RoPE
  // What the norm of the heads reads is kept beside what attention reads, which is otherwise
  // computed again from it.
  bool keeps_head_norm_input = true;
  // Bytes that are kept per token and hidden element by both un-fused norms of a block together,
  // and by dropout masks, biases and copies; bytes that are kept per element of the score matrix.
  double norm_extra_bytes = 0.0;
  double extra_bytes = 0.0;
  double score_bytes = 0.0;
  // Selective recompute drops norm outputs and the FFN's activation, not only the scores.
  bool selective_drops_operators = false;
  int64_t keys = 0;  // keys that each query token is compared with: the sequence length
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
  int64_t ring_gradient_bytes = 2;  // of an element of the gradients that ring attention passes on

  // Of the embedding and the head.
  int64_t vocab = 0;  // as the framework lays it out over the TP ranks
  bool tied_embeddings = false;
  bool head_bias = false;
  bool embedding_norm = false;
  int64_t learned_positions = 0;    // rows of the table that is added to the embedding
  bool vocab_parallel_loss = true;  // logits stay divided over TP

  // Device-memory traffic in bytes per element where elements have 2 bytes: a norm of the block
  // forward and backward, RoPE each way, the loss both ways together, what adds a weight gradient
  // to the accumulated one; and a forward pass over an fp32 score matrix, whatever the elements.
  double norm_traffic_bytes = 4.0;
  double norm_backward_traffic_bytes = 6.0;
  double rope_traffic_bytes = 4.0;
  double loss_traffic_bytes = 10.0;
  double accumulate_traffic_bytes = 0.0;
  double score_traffic_bytes = 0.0;

  // Of a statistic: fp32, or fp64 where elements are.
  int64_t accumulator_bytes() const { return element_bytes == 8 ? 8 : 4; }
  int64_t rank_heads() const { return heads / tp; }
  int64_t rank_kv_heads() const { return std::max<int64_t>(kv_heads / tp, 1); }
  int64_t query_width() const { return rank_heads() * head_dim; }
  int64_t key_width() const { return rank_kv_heads() * head_dim; }
  int64_t inner_width() const { return ffn_hidden / tp; }
  int64_t gate_up_width() const { return (ffn == FfnKind::kSwiGlu ? 2 : 1) * inner_width(); }
  bool is_parallel() const {
    return arrangement == Arrangement::kParallel || arrangement == Arrangement::kParallelOneNorm;
  }
  // Statistics that a norm of the stream keeps for a token: a deviation, and a mean.
  int64_t norm_statistics() const { return norm == StreamNorm::kRms ? 1 : 2; }
  // How many TP ranks share the residual stream's tokens.
  int64_t stream_ranks() const { return sequence_parallel ? tp : 1; }

  friend bool operator==(const BlockShape&, const BlockShape&) = default;
};

// One token of a sequence of `keys` in an undivided model: a layer of `group`, and both ends.
BlockShape WholeShape(const ModelSpec& model, const LayerGroup& group, int64_t keys);

}  // namespace meshwright::planner
