// What one transformer block keeps from its forward to its backward, tensor by tensor.
//
// One table: the memory estimate sums it and the worker's blocks save exactly these tensors, so
// that the estimate is right to the byte. Sizes are those of one micro-batch on one rank.
#pragma once

#include <cstdint>
#include <string_view>

#include "absl/types/span.h"
#include "planner/spec/model_spec.h"

namespace meshwright::planner {

// Shape of one block on one rank. tokens = micro-batch * seq_len / cp.
struct BlockDims {
  int64_t tokens = 0;
  int64_t hidden = 0;
  int64_t heads = 0;
  int64_t kv_heads = 0;
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
  // Every query and key head is normed before RoPE, and what that norm reads is kept beside what
  // attention reads.
  bool head_norm = false;
  bool keeps_head_norm_input = true;
  // Bytes per token and hidden element that un-fused norms and other extras keep (see
  // FrameworkProfile), and bytes per element of the score matrix where attention keeps it.
  double norm_extra_bytes = 0.0;
  double extra_bytes = 0.0;
  double score_bytes = 0.0;
  // Selective recompute drops norm outputs and the FFN's activation, not only the scores.
  bool selective_drops_operators = false;
  int64_t keys = 0;  // keys that each query token is compared with: the sequence length

  // Of a statistic: fp32, or fp64 where elements are.
  int64_t accumulator_bytes() const { return element_bytes == 8 ? 8 : 4; }
};

enum class KeptTensor : uint8_t {
  kAttentionResidual,    // input of the first norm
  kAttentionNormOutput,  // input of the QKV projection
  kAttentionNormRstd,    // reciprocal deviation per token
  kHeadNormInput,        // queries and keys as projected, and deviations of their heads
  kQuery,                // after RoPE, or the one thing kept where heads are normed again
  kKey,
  kValue,
  kAttentionOutput,  // input of the output projection
  kLogSumExp,        // softmax statistics
  kFfnResidual,      // input of the second norm
  kFfnNormOutput,    // input of the gate and up projections
  kFfnNormRstd,
  kGate,               // absent without gating
  kUp,                 // the one inner activation without gating
  kSiluGate,           // only where SwiGLU is not fused
  kFfnProduct,         // input of the down projection
  kNormIntermediates,  // of both norms where they are not fused
  kExtras,             // dropout masks, biases and copies
  kScores,             // heads x queries x keys where attention writes them out
};

// Bytes of `tensor` on one rank (0 where the block does not keep it).
int64_t KeptBytes(KeptTensor tensor, const BlockDims& dims);

// Queries and keys on one side of the norm of their heads, and its deviations; 0 without one.
int64_t HeadNormBytes(const BlockDims& dims);

// Every kept tensor, in the order in which a forward pass makes them.
absl::Span<const KeptTensor> KeptTensors();
std::string_view KeptTensorName(KeptTensor tensor);

// What a block keeps for one micro-batch without recompute. With bf16, sequence parallel, fused
// norms and silu kept this is s b h (12 + 4 k/a + 8 f/h) / (t c) plus the statistics (Fujii et
// al., arXiv 2411.06465).
int64_t KeptBytesPerBlock(const BlockDims& dims);

// Elements of the score matrix of one micro-batch on one rank.
int64_t ScoreElements(const BlockDims& dims);

// Selective recompute: a score matrix is computed again (Korthikanti et al., arXiv 2205.05198), or
// norm outputs, silu and the product.
int64_t SelectiveKeptBytesPerBlock(const BlockDims& dims);

// Full recompute: only the block's input.
int64_t CheckpointBytesPerBlock(const BlockDims& dims);

}  // namespace meshwright::planner
