// Operator is one operator of a transformer, as one rank runs it for one micro-batch: its shape,
// its parameters, the tensors it saves for backward, and what each of its passes allocates and
// communicates.
//
// Parameters, FLOPs, memory traffic, time and memory are sums over lists of operators
// (planner/block/block.h). The operators are those that Meshwright's worker runs, so that tests can
// compare a list with what a worker ran.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "base/text/enum_names.h"
#include "planner/containers/short_list.h"
#include "planner/layout/mesh.h"
#include "planner/spec/collective_kind.h"
#include "planner/spec/kernels.h"

namespace meshwright::planner {

enum class OperatorKind : uint8_t {
  kMatmul,
  kAttention,
  kNorm,
  kElementwise,
  kEmbedding,
  kCrossEntropy,
  kCollective,
  kCore,  // the core of a recurrence, or the scores of an index
};

// The operators, in the order of a forward pass.
enum class OperatorName : uint8_t {
  kEmbedding,
  kEmbeddingLeave,  // collective: adds up the TP ranks' partial sums into the residual stream
  kEmbeddingNorm,
  // Of Gemma 3n and 4: projects the embedding to the per-layer inputs and to the residual streams.
  // After the last layer, it projects the streams to the hidden state.
  kStreamsProjection,

  kPatchEmbedding,  // this and the next two: operators of a tower (planner/spec/tower.h)
  kTowerNorm,       // all norms of the tower outside of its blocks
  kTowerProjection,

  kSharedNorm,   // this and the next two: operators of a block whose weights layers share
  kSharedEnter,  // collective, as kAttentionEnter
  kSharedLeave,  // collective, as kAttentionLeave
  // Of a layer with such a block: projects the result of the block's FFN to the input of the
  // layer's recurrence.
  kSharedProjection,
  kAttentionStreams,  // mixes the residual streams into attention's input, or predicts them (AltUp)
  kAttentionNorm,
  kLaurel,            // a low-rank residual beside attention
  kLatentProjection,  // of latent attention: projects to the latents and the rotated key
  kLatentNorm,
  kIndexQuery,       // this and the next two: operators of sparse attention's indexer
  kIndexKey,         // projects to the index keys and the weights of the index heads
  kIndexScores,      // computes the scores of all keys before a query
  kAttentionEnter,   // collective: gives every TP rank the whole input of the projections
  kQkvProjection,    // for latent attention, only the projection of keys and values
  kQueryProjection,  // latent attention: the projection of queries
  kHeadNorm,         // norms of query and key heads
  kRope,
  kAttention,
  kAttentionGateProjection,
  kAttentionGate,           // scales attention's result
  kOutputGroupsProjection,  // of compressed attention: divided into groups of heads
  kOutputProjection,
  kMixerProjection,  // of a recurrence: projects to all inputs of its core and its gates
  kMixerConvolution,
  kMixerStatesProjection,  // of Mamba-1: projects to the step size and the matrices of the states
  kMixerGateProjection,    // projects to gates from a latent or from the convolution's result
  kMixerCore,
  kMixerNorm,  // normalises the core's result and applies its gate
  kMixerOutputProjection,
  kAttentionLeave,
  kAttentionPostNorm,  // the second norm of attention
  kAttentionResidual,
  // Mixes the residual streams into the FFN's input, or corrects them after the FFN (AltUp).
  kFfnStreams,
  kFfnNorm,
  kRouter,
  kExpertLatentProjection,  // projects to the latent that the experts work on
  kExpertDispatch,          // orders tokens by expert and sends them to the experts' ranks
  kExpertGateUpProjection,
  kExpertActivation,
  kExpertDownProjection,
  kExpertCombine,       // sends results back and adds up the results of each token
  kExpertLatentOutput,  // projects the experts' results back from the latent
  kFfnEnter,
  kGateUpProjection,
  kFfnActivation,  // the activation of the FFN's kind
  kDownProjection,
  kFfnLeave,
  kFfnPostNorm,  // the second norm of the FFN
  kFfnResidual,
  kLayerInput,  // of Gemma 3n and 4: gates the layer's own embedding and projects it to the hidden
                // state

  kFinalNorm,
  kHeadEnter,
  kHeadProjection,
  kCrossEntropy,

  kMtpNorm,  // norms of the hidden state and the next token's embedding, before they are
             // concatenated
  kMtpProjection,
};

using meshwright::NameOf;  // so that the overload below does not hide it
std::string_view NameOf(OperatorName name);

// The three passes of an operator. A schedule may run the two gradients at different times.
enum class PassKind : uint8_t { kForward, kInputGradient, kWeightGradient };
inline constexpr std::array kPasses = {PassKind::kForward, PassKind::kInputGradient,
                                       PassKind::kWeightGradient};

// y = x W^T with x [rows, inputs] and W [outputs, inputs].
struct MatmulShape {
  int64_t rows = 0;
  int64_t outputs = 0;
  int64_t inputs = 0;
  // For experts: the number of products, each with a W of its own. The products divide the rows
  // evenly, or the inputs if `shares_inputs`.
  int64_t groups = 1;
  bool shares_inputs = false;  // set for the weight gradient of experts
};

// Causal attention of `tokens` query tokens on one rank.
struct AttentionShape {
  int64_t tokens = 0;
  int64_t keys = 0;   // the sequence length
  int64_t heads = 0;  // heads on this rank
  int64_t head_dim = 0;
  int64_t kv_heads = 0;  // key/value heads on this rank
  // The number of key blocks that a kernel works on one after another: the blocks of context
  // parallelism's ring.
  int64_t key_blocks = 1;
  int64_t ring_stops = 1;  // the number of stops of the ring (planner/block/attention_tiles.h)
  int64_t window = 0;      // number of newest keys that a query sees; 0: all keys before it
  bool chunked = false;    // a query sees the keys of its own chunk of `window` tokens instead
  int64_t value_dim = 0;   // elements of a head's values, or 0 for head_dim
  double keys_seen = 0.0;  // mean keys per query; 0 if they follow from keys and window

  int64_t value_head_dim() const { return value_dim > 0 ? value_dim : head_dim; }
  int64_t query_width() const { return heads * head_dim; }
  int64_t key_width() const { return kv_heads * head_dim; }
  int64_t value_width() const { return kv_heads * value_head_dim(); }
  int64_t attended_width() const { return heads * value_head_dim(); }
  // Returns how many keys a query sees on average over the sequence.
  double mean_keys() const {
    if (keys_seen > 0.0) return keys_seen;
    const auto all = static_cast<double>(keys);
    if (window == 0 || window >= keys) return all / 2.0;
    const auto seen = static_cast<double>(window);
    if (chunked) {
      const auto rest = static_cast<double>(keys % window);
      return (seen * (all - rest) + rest * rest) / (2.0 * all);
    }
    return seen - seen * seen / (2.0 * all);
  }
};

// A core, whose FLOPs do not follow from the shape of one matrix: a recurrence multiplies queries,
// keys, values and states chunk by chunk.
struct CoreShape {
  double forward_flops = 0.0;
  double backward_flops = 0.0;  // FLOPs of the backward, without FLOPs that it recomputes
  // Time of the backward divided by the time of the forward. Backward kernels recompute chunk
  // states.
  double backward_ratio = 2.5;
  int64_t workspace_bytes = 0;  // bytes held while the backward runs
};

// The device-memory traffic of an operator besides its matrix products. A pass with 0 traffic bytes
// launches no kernel for this traffic.
struct StreamShape {
  int64_t elements = 0;
  std::array<double, 3> traffic_bytes = {};  // bytes per element of 2 bytes, by PassKind
};

// The way in which a parameter is divided over ranks: not at all, by its rows, or by its columns.
enum class Division : uint8_t { kWhole, kRows, kColumns };

// A parameter [rows, columns] of the model; matrices are [outputs, inputs].
struct OperatorParameter {
  std::string_view name;
  int64_t rows = 0;
  int64_t columns = 0;
  int64_t rank_rows = 0;  // the part on one rank is rank_rows x rank_columns
  int64_t rank_columns = 0;
  Division division = Division::kWhole;  // how the matrix is divided over `divided_over`
  bool matrix = true;                    // false for a vector: a norm's weight or a bias
  bool shared = false;  // the embedding's matrix, used a second time and not counted again
  // A matrix of an earlier layer on the same rank (planner/spec/model_spec.h, SharedBlock): it is
  // multiplied here too, but the earlier layer holds it.
  bool borrowed = false;
  bool trained = true;
  bool four_bit = false;  // held in 4 bits (kFourBitWeightBytes)
  // If true, this is a matrix of a few rows that every rank of a TP group holds. ZeRO shards the
  // gradients of other matrices, but leaves the gradient of such a matrix whole, like the gradient
  // of a vector.
  bool whole_gradient = false;
  // For a layer's experts: how many consecutive matrices the parameter consists of, one for each
  // expert. A rank has `rank_experts` of them. `expert_division` says how GroupRole::kExpertTensor
  // divides each of them.
  int64_t experts = 0;
  int64_t rank_experts = 0;
  Division expert_division = Division::kWhole;
  // The ranks that divide the parameter, unless it is kWhole.
  GroupRole divided_over = GroupRole::kTensor;
  // Ranks over which the parameter's gradient is reduced.
  GroupRole reduced_over = GroupRole::kReplicas;

  int64_t elements() const { return rows * columns; }
  int64_t rank_elements() const { return rank_rows * rank_columns; }
};

// The tensors that are kept from forward to backward, in the order in which forward makes them.
enum class KeptTensor : uint8_t {
  kTokenIds,
  kEmbeddingNormInput,
  kEmbeddingNormRstd,
  kPatches,
  kTowerNormInput,
  kTowerProjectionInput,
  kAttentionResidual,    // input of the first norm
  kAttentionNormOutput,  // input of the QKV projection
  kAttentionNormRstd,    // reciprocal deviation of each token and, for LayerNorm, its mean
  kAttentionNormInput,   // input of a norm after the output projection
  kAttentionPostNormRstd,
  kLatent,  // the latent of latent attention, before its norm
  kLatentRstd,
  kLatentNormOutput,  // input of the projections out of the latents
  kHeadNormInput,     // queries and keys before their norm, with each head's deviation
  kQuery,             // after RoPE, or before the norm of heads if backward repeats that norm
  kKey,
  kValue,            // with the unrotated part of keys if latent attention assembles keys again
  kTurnedKey,        // the rotated part of keys, if latent attention assembles keys again
  kAttentionOutput,  // input of the output projection
  kOutputLatent,     // of compressed attention: input of its second output projection
  kLogSumExp,        // softmax statistics
  kAttentionGate,    // the gate, and attention's result before it
  kIndex,            // what an indexer keeps, and the keys that it picks
  kMixerInput,       // of a recurrence: the convolution's input and the output gate
  kMixerStates,      // what the core reads, and the states that it keeps
  kMixerOutput,      // the core's result with its deviation
  kMixerProduct,     // input of the recurrence's last projection
  kFfnResidual,      // input of the second norm
  kFfnNormOutput,    // input of the gate and up projections
  kFfnNormRstd,
  kFfnNormInput,  // input of a norm after the down projection
  kFfnPostNormRstd,
  kRouterScores,  // logits of every expert; for frameworks other than the worker, also scores
  kRouting,       // which expert takes which token, and with what weight
  kExpertLatent,  // the tokens' latents before dispatch, and the sum of the experts' results
  kExpertInput,   // the tokens of a rank's experts, in their order
  kExpertGate,
  kExpertUp,
  kExpertSiluGate,  // only if SwiGLU is not fused
  kExpertProduct,
  kExpertOutput,
  kGate,               // absent without gating
  kUp,                 // the one inner activation without gating
  kSiluGate,           // only if SwiGLU is not fused
  kFfnProduct,         // input of the down projection
  kNormIntermediates,  // intermediates of both norms if they are not fused
  kExtras,             // dropout masks, biases and copies
  kAdapter,            // an adapter's tensors between its two products and after them
  kLayerInput,         // of Gemma 3n and 4: the layer's own embedding, its gate and their product
  kSharedInput,        // of a shared block: the concatenated hidden state and embedding
  kStreams,            // of AltUp: the layer's result, and its difference from the predicted stream
  kLaurel,             // of a low-rank residual: its latent and the input of its norm
  kScores,             // heads x queries x keys, if attention writes them out
  kFinalResidual,
  kFinalNormOutput,
  kFinalNormRstd,
  kLogits,
  kLossStatistics,
  kTargets,
  kMtpResidual,
  kMtpNormOutput,
};

// A tensor that an operator saves in its forward pass. It is freed in the pass `freed_in` of the
// operator `freed_by`. This is the last pass that reads the tensor, or that reads the gradient that
// was written over it.
struct SavedTensor {
  KeptTensor tensor = KeptTensor::kTokenIds;
  OperatorName freed_by = OperatorName::kEmbedding;
  PassKind freed_in = PassKind::kInputGradient;
  int64_t bytes = 0;
  bool narrow_copy = false;  // a quantised copy of the tensor for a product
};

struct OperatorCollective {
  CollectiveKind kind = CollectiveKind::kAllReduce;
  GroupRole group = GroupRole::kTensor;
  // Bytes of the full buffer: before an all-reduce, after an all-gather, before a reduce-scatter.
  // For an all-to-all, the bytes that one rank sends or receives, whichever are more. For a send,
  // one message; a ring sends one message for each stop after the first.
  int64_t bytes = 0;
  bool behind_compute = false;  // hidden behind a longer matrix product
};

struct OperatorPass {
  // Bytes that the pass allocates for its result, or 0 if it works in place.
  int64_t result_bytes = 0;
  int64_t copied_bytes = 0;  // bytes of a separate tensor that is copied into the result
  ShortList<OperatorCollective, 2> collectives;
};

struct Operator {
  OperatorName name = OperatorName::kEmbedding;
  OperatorKind kind = OperatorKind::kElementwise;
  int64_t element_bytes = 2;      // bytes per element of its inputs and outputs
  int64_t accumulator_bytes = 4;  // bytes per element of its statistics and its weight's gradient

  // At most one of `matmul`, `attention` and `core` is set, according to `kind`.
  MatmulShape matmul = {};
  AttentionShape attention = {};
  CoreShape core = {};
  AttentionKernel kernel = AttentionKernel::kDefault;  // only for attention
  double score_traffic_bytes = 0.0;  // bytes per score, if attention writes out the score matrix
  StreamShape stream = {};

  ShortList<OperatorParameter, 6> parameters;
  ShortList<SavedTensor, 6> saves;
  std::array<OperatorPass, 3> passes = {};  // by PassKind

  // If true, the operator is a product with quantised factors (planner/spec/quantisation.h).
  bool narrowed = false;
  // If true, the operator reads the same tensor as the operator before it. The two then share one
  // input gradient.
  bool reads_as_previous = false;
  // If true, the input gradient begins by repeating the forward, because the result is never kept.
  bool repeats_forward = false;
  // If true, the operator's input gets no gradient, as in an indexer, which has a loss of its own.
  bool detached = false;
  // If true, the operator begins a branch: it reads the norm's output, not the result of the
  // operator before it. The results of the branches are added up after the last branch.
  bool starts_branch = false;
  // If `recomputed` is true, the forward runs again before the backward of the block.
  // `recomputed_share` is the share of the forward that runs again. It is below 1 if a product
  // makes several tensors of which some are kept.
  bool recomputed = false;
  double recomputed_share = 1.0;
  // If `propagates` is true, the backward computes the gradient of the input. If `learns` is true,
  // it computes the gradient of the weights. A frozen operator computes no gradient of its weights.
  // If no trained operator precedes it, it computes neither gradient.
  bool propagates = true;
  bool learns = true;
  // If true, the operator is a product of an adapter. Such an operator has the name of the adapted
  // product.
  bool adapts = false;
  // Bytes of the operator's largest 4-bit matrix after it is dequantised to the format of the
  // product. Each use of the matrix writes these bytes.
  int64_t widened_bytes = 0;

  const OperatorPass& pass(PassKind pass) const { return passes[static_cast<size_t>(pass)]; }
  OperatorPass& pass(PassKind pass) { return passes[static_cast<size_t>(pass)]; }
};

// Returns whether the operator runs the pass at all.
inline bool Runs(const Operator& op, PassKind pass) {
  switch (pass) {
    case PassKind::kForward:
      break;
    case PassKind::kInputGradient:
      return op.propagates && !(op.detached && op.kind == OperatorKind::kMatmul);
    case PassKind::kWeightGradient:
      return op.learns;
  }
  return true;
}

// Operators in the order of the forward pass; backward runs them in reverse. Holds a whole block
// with its adapters without a heap allocation.
using OperatorList = ShortList<Operator, 80>;

// Returns the operator of this name, or null.
inline const Operator* Find(const OperatorList& operators, OperatorName name) {
  for (const Operator& op : operators) {
    if (op.name == name) return &op;
  }
  return nullptr;
}

}  // namespace meshwright::planner
