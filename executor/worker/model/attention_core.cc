#include "executor/worker/model/attention_core.h"

#include <ATen/OpMathType.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/zeros.h>

#include <utility>

#include "executor/worker/model/band_mask.h"

namespace meshwright::worker {

at::Tensor HeadsOfCall(const AttentionShape& shape, const at::Tensor& heads, int64_t call) {
  if (shape.calls() == 1) return heads;
  return heads.slice(2, call, shape.heads, shape.calls());
}

at::Tensor HeadsOfOutput(const AttentionShape& shape, const at::Tensor& output) {
  return output.view({shape.batch, shape.seq_len, shape.heads, shape.value_head_dim()});
}

at::TensorOptions InAccumulatorType(const at::Tensor& tensor) {
  return tensor.options().dtype(at::toOpMathType(tensor.scalar_type()));
}

at::Tensor TokensOf(const planner::TokenRange& range, const at::Tensor& tensor, int64_t dimension) {
  return tensor.narrow(dimension, range.begin, range.count);
}

namespace {

std::vector<planner::AttentionTile> TilesOf(const AttentionShape& shape) {
  return planner::AttentionTiles(shape.span(/*cp=*/1), /*rank=*/0, /*source=*/0);
}

// Returns the keys that queries see if one call covers all keys.
KeySight SightOfAll(const AttentionShape& shape, const at::Tensor& q) {
  return BandMask(q).Of(TilesOf(shape).front());
}

// For the heads of one call.
at::Tensor NewLogSumExp(const AttentionShape& shape, const at::Tensor& q) {
  return at::empty({shape.batch, shape.heads / shape.calls(), shape.seq_len}, InAccumulatorType(q));
}

AttentionResult WindowForward(const AttentionShape& shape, const at::Tensor& q, const at::Tensor& k,
                              const at::Tensor& v) {
  AttentionResult result;
  result.output =
      at::empty({shape.batch * shape.seq_len, shape.heads * shape.value_head_dim()}, q.options());
  const at::Tensor output = HeadsOfOutput(shape, result.output);
  const std::vector<planner::AttentionTile> tiles = TilesOf(shape);
  BandMask mask(q);
  for (int64_t call = 0; call < shape.calls(); ++call) {
    const at::Tensor log_sum_exp = NewLogSumExp(shape, q);
    AttentionStatistics statistics = {
        .log_sum_exp = log_sum_exp, .random_seed = {}, .random_offset = {}};
    for (const planner::AttentionTile& tile : tiles) {
      const AttendedHeads heads =
          AttendForward(shape.backend, TokensOf(tile.queries, HeadsOfCall(shape, q, call)),
                        TokensOf(tile.keys, k), TokensOf(tile.keys, v), mask.Of(tile));
      TokensOf(tile.queries, HeadsOfCall(shape, output, call)).copy_(heads.output);
      TokensOf(tile.queries, log_sum_exp, 2).copy_(heads.statistics.log_sum_exp);
      statistics.random_seed = heads.statistics.random_seed;
      statistics.random_offset = heads.statistics.random_offset;
    }
    result.statistics.push_back(std::move(statistics));
  }
  return result;
}

// Keys and values receive gradients from several tiles, summed in the accumulator type.
AttentionGradient WindowBackward(const AttentionShape& shape, const at::Tensor& dheads,
                                 const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                                 const at::Tensor& heads, const AttentionResult& forward) {
  at::Tensor dk = at::zeros(k.sizes(), InAccumulatorType(k));
  at::Tensor dv = at::zeros(v.sizes(), InAccumulatorType(v));
  const std::vector<planner::AttentionTile> tiles = TilesOf(shape);
  BandMask mask(q);
  AttentionGradient gradient;
  for (int64_t call = 0; call < shape.calls(); ++call) {
    gradient.q.push_back(at::empty(HeadsOfCall(shape, q, call).sizes(), q.options()));
    for (const planner::AttentionTile& tile : tiles) {
      const auto queries = [&](const at::Tensor& tensor) {
        return TokensOf(tile.queries, HeadsOfCall(shape, tensor, call));
      };
      AttentionStatistics statistics = forward.statistics[call];
      statistics.log_sum_exp = TokensOf(tile.queries, statistics.log_sum_exp, 2);
      const AttendedGradient part =
          AttendBackward(shape.backend, queries(dheads), queries(q), TokensOf(tile.keys, k),
                         TokensOf(tile.keys, v), queries(heads), statistics, mask.Of(tile));
      TokensOf(tile.queries, gradient.q.back()).copy_(part.q);
      TokensOf(tile.keys, dk).add_(part.k);
      TokensOf(tile.keys, dv).add_(part.v);
    }
  }
  gradient.k = dk.to(k.scalar_type());
  gradient.v = dv.to(v.scalar_type());
  return gradient;
}

}  // namespace

AttentionResult AttentionForward(const AttentionShape& shape, const at::Tensor& q,
                                 const at::Tensor& k, const at::Tensor& v) {
  if (!shape.span(/*cp=*/1).is_one_tile()) return WindowForward(shape, q, k, v);
  const KeySight sight = SightOfAll(shape, q);
  const int64_t tokens = shape.batch * shape.seq_len;
  const int64_t width = shape.heads * shape.value_head_dim();
  AttentionResult result;
  if (shape.calls() == 1) {
    AttendedHeads heads = AttendForward(shape.backend, q, k, v, sight);
    // Copied: a view of padded heads would keep the padding alive.
    result.output = heads.output.reshape({tokens, width}).contiguous();
    result.statistics.push_back(std::move(heads.statistics));
    return result;
  }
  result.output = at::empty({tokens, width}, q.options());
  const at::Tensor output = HeadsOfOutput(shape, result.output);
  for (int64_t call = 0; call < shape.calls(); ++call) {
    AttendedHeads heads = AttendForward(shape.backend, HeadsOfCall(shape, q, call), k, v, sight);
    HeadsOfCall(shape, output, call).copy_(heads.output);
    result.statistics.push_back(std::move(heads.statistics));
  }
  return result;
}

AttentionGradient AttentionBackward(const AttentionShape& shape, const at::Tensor& doutput,
                                    const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                                    const AttentionResult& forward) {
  const at::Tensor dheads = HeadsOfOutput(shape, doutput);
  const at::Tensor heads = HeadsOfOutput(shape, forward.output);
  if (!shape.span(/*cp=*/1).is_one_tile()) {
    return WindowBackward(shape, dheads, q, k, v, heads, forward);
  }
  const KeySight sight = SightOfAll(shape, q);
  AttentionGradient gradient;
  for (int64_t call = 0; call < shape.calls(); ++call) {
    AttendedGradient part =
        AttendBackward(shape.backend, HeadsOfCall(shape, dheads, call), HeadsOfCall(shape, q, call),
                       k, v, HeadsOfCall(shape, heads, call), forward.statistics[call], sight);
    gradient.q.push_back(std::move(part.q));
    if (call == 0) {
      gradient.k = std::move(part.k);
      gradient.v = std::move(part.v);
    } else {
      gradient.k.add_(part.k);
      gradient.v.add_(part.v);
    }
  }
  return gradient;
}

}  // namespace meshwright::worker
