#include "planner/memory/block_tensors.h"

#include <array>

namespace meshwright::planner {
namespace {

constexpr std::array kKeptTensors = {
    KeptTensor::kAttentionResidual,
    KeptTensor::kAttentionNormOutput,
    KeptTensor::kAttentionNormRstd,
    KeptTensor::kHeadNormInput,
    KeptTensor::kQuery,
    KeptTensor::kKey,
    KeptTensor::kValue,
    KeptTensor::kAttentionOutput,
    KeptTensor::kLogSumExp,
    KeptTensor::kFfnResidual,
    KeptTensor::kFfnNormOutput,
    KeptTensor::kFfnNormRstd,
    KeptTensor::kGate,
    KeptTensor::kUp,
    KeptTensor::kSiluGate,
    KeptTensor::kFfnProduct,
    KeptTensor::kNormIntermediates,
    KeptTensor::kExtras,
    KeptTensor::kScores,
};

// How many ranks of the TP group share a tensor that follows the sequence.
int64_t SequenceDivisor(const BlockDims& d) { return d.sequence_parallel ? d.tp : 1; }

int64_t InputDivisor(const BlockDims& d) {
  return d.keeps_gathered_inputs ? 1 : SequenceDivisor(d);
}

// Key and value heads on a rank: they are replicated where TP has more ranks than there are heads.
int64_t KeyHeads(const BlockDims& d) { return d.kv_heads >= d.tp ? d.kv_heads / d.tp : 1; }

// `bytes` per element of a tensor of `elements`.
int64_t Scaled(double bytes, int64_t elements) {
  return static_cast<int64_t>(bytes * static_cast<double>(elements));
}

}  // namespace

absl::Span<const KeptTensor> KeptTensors() { return kKeptTensors; }

int64_t KeptBytes(KeptTensor tensor, const BlockDims& d) {
  const int64_t e = d.element_bytes;
  const bool gated = d.ffn == FfnKind::kSwiGlu;
  switch (tensor) {
    case KeptTensor::kAttentionResidual:
    case KeptTensor::kFfnResidual:
      return d.tokens * d.hidden * e / SequenceDivisor(d);
    case KeptTensor::kAttentionNormOutput:
    case KeptTensor::kFfnNormOutput:
      return d.tokens * d.hidden * e / InputDivisor(d);
    case KeptTensor::kAttentionNormRstd:
    case KeptTensor::kFfnNormRstd:
      return d.tokens * d.accumulator_bytes() / SequenceDivisor(d);
    case KeptTensor::kHeadNormInput:
      return d.keeps_head_norm_input ? HeadNormBytes(d) : 0;
    case KeptTensor::kQuery:
    case KeptTensor::kAttentionOutput:
      return d.tokens * (d.heads / d.tp) * d.head_dim * e;
    case KeptTensor::kKey:
    case KeptTensor::kValue:
      return d.tokens * KeyHeads(d) * d.head_dim * e;
    case KeptTensor::kLogSumExp:
      return d.tokens * (d.heads / d.tp) * d.accumulator_bytes();
    case KeptTensor::kGate:
      return gated ? d.tokens * (d.ffn_hidden / d.tp) * e : 0;
    case KeptTensor::kUp:
    case KeptTensor::kFfnProduct:
      return d.tokens * (d.ffn_hidden / d.tp) * e;
    case KeptTensor::kSiluGate:
      return gated && !d.fused_swiglu ? d.tokens * (d.ffn_hidden / d.tp) * e : 0;
    case KeptTensor::kNormIntermediates:
      return Scaled(d.norm_extra_bytes, d.tokens * d.hidden / SequenceDivisor(d));
    case KeptTensor::kExtras:
      return Scaled(d.extra_bytes, d.tokens * d.hidden / SequenceDivisor(d));
    case KeptTensor::kScores:
      return Scaled(d.score_bytes, ScoreElements(d));
    default:
      return 0;
  }
}

int64_t HeadNormBytes(const BlockDims& d) {
  if (!d.head_norm) return 0;
  return d.tokens * (d.heads / d.tp + KeyHeads(d)) *
         (d.head_dim * d.element_bytes + d.accumulator_bytes());
}

int64_t ScoreElements(const BlockDims& d) { return d.tokens * d.keys * (d.heads / d.tp); }

int64_t KeptBytesPerBlock(const BlockDims& dims) {
  int64_t bytes = 0;
  for (const KeptTensor tensor : kKeptTensors) bytes += KeptBytes(tensor, dims);
  return bytes;
}

int64_t SelectiveKeptBytesPerBlock(const BlockDims& dims) {
  if (!dims.selective_drops_operators) {
    return KeptBytesPerBlock(dims) - KeptBytes(KeptTensor::kScores, dims);
  }
  return KeptBytesPerBlock(dims) - KeptBytes(KeptTensor::kAttentionNormOutput, dims) -
         KeptBytes(KeptTensor::kFfnNormOutput, dims) - KeptBytes(KeptTensor::kSiluGate, dims) -
         KeptBytes(KeptTensor::kFfnProduct, dims) - KeptBytes(KeptTensor::kNormIntermediates, dims);
}

int64_t CheckpointBytesPerBlock(const BlockDims& dims) {
  return KeptBytes(KeptTensor::kAttentionResidual, dims);
}

}  // namespace meshwright::planner
