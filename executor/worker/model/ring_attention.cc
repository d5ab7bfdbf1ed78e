#include "executor/worker/model/ring_attention.h"

#include <ATen/ops/cat.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/zeros_like.h>

#include <utility>
#include <vector>

#include "executor/worker/model/band_mask.h"

namespace meshwright::worker {
namespace {

// A message to the next rank and one from the previous rank.
struct Exchange {
  at::Tensor outgoing;
  at::Tensor incoming;
  PendingExchange pending;
};

class Ring {
 public:
  Ring(const RankContext& context, const AttentionShape& shape)
      : group_(*context.groups.cp),
        span_(shape.span(group_.size())),
        stops_(planner::RingStops(span_)) {}

  size_t stops() const { return stops_.size(); }
  // Returns what this rank's queries see of the keys and values present at a stop.
  std::vector<planner::AttentionTile> TilesAt(size_t stop) const {
    return planner::AttentionTiles(span_, group_.rank(), RankBehind(stops_[stop]));
  }

  // Sends the keys or gradients that are present at `stop` to the next rank that needs them. After
  // the last stop, sends them to their owner.
  Exchange Start(size_t stop, at::Tensor outgoing) {
    const int32_t next = stop + 1 < stops() ? stops_[stop + 1] : group_.size();
    const int32_t hops = next - stops_[stop];
    Exchange exchange;
    exchange.incoming = at::empty_like(outgoing);
    exchange.pending = group_.Exchange(outgoing, RankBehind(group_.size() - hops),
                                       exchange.incoming, RankBehind(hops));
    exchange.outgoing = std::move(outgoing);
    return exchange;
  }

  // Returns what arrived.
  at::Tensor Finish(Exchange& exchange) {
    exchange.pending.received.Wait();
    exchange.pending.sent.Wait();
    exchange.outgoing.reset();
    return std::exchange(exchange.incoming, {});
  }

 private:
  int32_t RankBehind(int32_t hops) const {
    return (group_.rank() + group_.size() - hops) % group_.size();
  }

  Communicator& group_;
  const planner::AttentionSpan span_;
  const std::vector<int32_t> stops_;
};

// Packs keys and values into one dense tensor [batch, seq_len, kv_heads (head_dim +
// value_head_dim())]; its parts follow.
at::Tensor Pack(const at::Tensor& k, const at::Tensor& v) {
  return at::cat({k.flatten(2), v.flatten(2)}, 2);
}
at::Tensor Keys(const AttentionShape& shape, const at::Tensor& packed) {
  const int64_t width = shape.kv_heads * shape.head_dim;
  return packed.narrow(2, 0, width).unflatten(2, {shape.kv_heads, shape.head_dim});
}
at::Tensor Values(const AttentionShape& shape, const at::Tensor& packed) {
  const int64_t width = shape.kv_heads * shape.value_head_dim();
  return packed.narrow(2, packed.size(2) - width, width)
      .unflatten(2, {shape.kv_heads, shape.value_head_dim()});
}

// Merges attention to further keys: output [batch, queries, heads, head_dim] and log_sum_exp
// [batch, heads, queries] become those of all keys so far.
void Merge(const RankContext& context, const at::Tensor& output, const at::Tensor& log_sum_exp,
           const AttendedHeads& part) {
  const at::Tensor& part_log_sum_exp = part.statistics.log_sum_exp;
  context.device->kernels().Run(
      kernels::AttentionMerge{.type = context.element(),
                              .batch = output.size(0),
                              .queries = output.size(1),
                              .heads = output.size(2),
                              .head_dim = output.size(3),
                              .output = output.mutable_data_ptr(),
                              .output_strides = StridesOfHeads(output),
                              .log_sum_exp = log_sum_exp.mutable_data_ptr(),
                              .log_sum_exp_strides = StridesOfStatistic(log_sum_exp),
                              .part_output = part.output.const_data_ptr(),
                              .part_output_strides = StridesOfHeads(part.output),
                              .part_log_sum_exp = part_log_sum_exp.const_data_ptr(),
                              .part_log_sum_exp_strides = StridesOfStatistic(part_log_sum_exp)});
}

// Gradients of one round of the backward, summed in the accumulator type.
class RingGradient {
 public:
  RingGradient(Ring& ring, const AttentionShape& shape, const at::Tensor& q,
               const at::Tensor& packed)
      : ring_(ring),
        shape_(shape),
        dtype_(q.scalar_type()),
        own_(at::empty(packed.sizes(), InAccumulatorType(packed))) {
    // Without a window the first tile covers all keys and overwrites the buffer.
    if (shape.window > 0) own_.zero_();
    own_is_empty_ = shape.window == 0;
    for (int64_t call = 0; call < shape.calls(); ++call) {
      dq_.push_back(at::empty(HeadsOfCall(shape, q, call).sizes(), InAccumulatorType(q)));
    }
  }

  void Add(size_t stop, int64_t call, const planner::AttentionTile& tile,
           const AttendedGradient& part) {
    const at::Tensor dq = TokensOf(tile.queries, dq_[static_cast<size_t>(call)]);
    tile.first ? dq.copy_(part.q) : dq.add_(part.q);
    if (stop > 0) Arrive();
    const at::Tensor& target = stop == 0 ? own_ : travelling_;
    const at::Tensor dk = TokensOf(tile.keys, Keys(shape_, target));
    const at::Tensor dv = TokensOf(tile.keys, Values(shape_, target));
    if (stop == 0 && std::exchange(own_is_empty_, false)) {
      dk.copy_(part.k);
      dv.copy_(part.v);
    } else {
      dk.add_(part.k);
      dv.add_(part.v);
    }
  }

  // Sends the travelling gradients on, after every stop but the first.
  void Pass(size_t stop) {
    Arrive();
    exchange_ = ring_.Start(stop, std::exchange(travelling_, {}));
  }

  AttentionGradient Take() {
    if (exchange_.incoming.defined()) own_.add_(ring_.Finish(exchange_));
    AttentionGradient gradient;
    for (at::Tensor& sum : dq_) gradient.q.push_back(std::exchange(sum, {}).to(dtype_));
    const at::Tensor own = std::exchange(own_, {}).to(dtype_);
    gradient.k = Keys(shape_, own);
    gradient.v = Values(shape_, own);
    return gradient;
  }

 private:
  // The first rank to see another's keys starts their sum.
  void Arrive() {
    if (travelling_.defined()) return;
    travelling_ = exchange_.incoming.defined() ? ring_.Finish(exchange_) : at::zeros_like(own_);
  }

  Ring& ring_;
  const AttentionShape& shape_;
  const at::ScalarType dtype_;  // of the result
  std::vector<at::Tensor> dq_;  // by call
  at::Tensor own_;
  bool own_is_empty_ = false;
  at::Tensor travelling_;  // gradients of the keys present here
  Exchange exchange_;
};

// Output and log-sum-exp of all keys so far.
class RingOutput {
 public:
  RingOutput(const RankContext& context, const AttentionShape& shape, const at::Tensor& q)
      : context_(context), shape_(shape), dtype_(q.scalar_type()) {
    sum_ = at::empty({shape.batch, shape.seq_len, shape.heads, shape.value_head_dim()},
                     InAccumulatorType(q));
    if (shape.window == 0) return;
    for (int64_t call = 0; call < shape.calls(); ++call) {
      statistics_.push_back(
          {.log_sum_exp = at::empty({shape.batch, shape.heads / shape.calls(), shape.seq_len},
                                    InAccumulatorType(q)),
           .random_seed = {},
           .random_offset = {}});
    }
  }

  void Add(int64_t call, const planner::AttentionTile& tile, AttendedHeads part) {
    const at::Tensor output = TokensOf(tile.queries, HeadsOfCall(shape_, sum_, call));
    if (tile.first) output.copy_(part.output);
    if (tile.first && shape_.window == 0) {  // all queries
      statistics_.push_back(std::move(part.statistics));
      return;
    }
    AttentionStatistics& statistics = statistics_[call];
    const at::Tensor log_sum_exp = TokensOf(tile.queries, statistics.log_sum_exp, 2);
    statistics.random_seed = part.statistics.random_seed;
    statistics.random_offset = part.statistics.random_offset;
    if (tile.first) {
      log_sum_exp.copy_(part.statistics.log_sum_exp);
    } else {
      Merge(context_, output, log_sum_exp, part);
    }
  }

  AttentionResult Take() {
    return {.output = sum_.to(dtype_).view({shape_.batch * shape_.seq_len, -1}),
            .statistics = std::move(statistics_)};
  }

 private:
  const RankContext& context_;
  const AttentionShape& shape_;
  const at::ScalarType dtype_;
  at::Tensor sum_;
  std::vector<AttentionStatistics> statistics_;  // by call
};

}  // namespace

AttentionResult RingAttentionForward(RankContext& context, const AttentionShape& shape,
                                     const at::Tensor& q, const at::Tensor& k,
                                     const at::Tensor& v) {
  Ring ring(context, shape);
  RingOutput output(context, shape, q);
  BandMask mask(q);
  at::Tensor packed = Pack(k, v);
  for (size_t stop = 0; stop < ring.stops(); ++stop) {
    const bool last = stop + 1 == ring.stops();
    Exchange exchange = last ? Exchange() : ring.Start(stop, packed);
    const std::vector<planner::AttentionTile> tiles = ring.TilesAt(stop);
    for (int64_t call = 0; call < shape.calls(); ++call) {
      for (const planner::AttentionTile& tile : tiles) {
        output.Add(call, tile,
                   AttendForward(shape.backend, TokensOf(tile.queries, HeadsOfCall(shape, q, call)),
                                 TokensOf(tile.keys, Keys(shape, packed)),
                                 TokensOf(tile.keys, Values(shape, packed)), mask.Of(tile)));
      }
    }
    if (!last) packed = ring.Finish(exchange);
  }
  return output.Take();
}

AttentionGradient RingAttentionBackward(RankContext& context, const AttentionShape& shape,
                                        const at::Tensor& doutput, const at::Tensor& q,
                                        const at::Tensor& k, const at::Tensor& v,
                                        const AttentionResult& forward) {
  Ring ring(context, shape);
  const at::Tensor dheads = HeadsOfOutput(shape, doutput);
  const at::Tensor heads = HeadsOfOutput(shape, forward.output);
  BandMask mask(q);
  at::Tensor packed = Pack(k, v);
  RingGradient gradient(ring, shape, q, packed);
  for (size_t stop = 0; stop < ring.stops(); ++stop) {
    const bool last = stop + 1 == ring.stops();
    Exchange exchange = last ? Exchange() : ring.Start(stop, packed);
    const std::vector<planner::AttentionTile> tiles = ring.TilesAt(stop);
    for (int64_t call = 0; call < shape.calls(); ++call) {
      for (const planner::AttentionTile& tile : tiles) {
        const auto queries = [&](const at::Tensor& tensor) {
          return TokensOf(tile.queries, HeadsOfCall(shape, tensor, call));
        };
        AttentionStatistics statistics = forward.statistics[call];
        statistics.log_sum_exp = TokensOf(tile.queries, statistics.log_sum_exp, 2);
        gradient.Add(stop, call, tile,
                     AttendBackward(shape.backend, queries(dheads), queries(q),
                                    TokensOf(tile.keys, Keys(shape, packed)),
                                    TokensOf(tile.keys, Values(shape, packed)), queries(heads),
                                    statistics, mask.Of(tile)));
      }
    }
    if (!last) packed = ring.Finish(exchange);
    if (stop > 0) gradient.Pass(stop);
  }
  return gradient.Take();
}

}  // namespace meshwright::worker
