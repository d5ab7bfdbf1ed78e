#include "executor/worker/model/ring_attention.h"

#include <ATen/OpMathType.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/zeros_like.h>

#include <utility>
#include <vector>

namespace meshwright::worker {
namespace {

// A message to the next rank and one from the rank before.
struct Exchange {
  at::Tensor outgoing;
  at::Tensor incoming;
  PendingExchange pending;
};

class Ring {
 public:
  explicit Ring(const RankContext& context)
      : group_(*context.groups.cp),
        rank_(group_.rank()),
        next_((rank_ + 1) % size()),
        previous_((rank_ + size() - 1) % size()) {}

  int32_t size() const { return group_.size(); }
  int32_t rank() const { return rank_; }
  // Whose keys and values are here after so many hops.
  int32_t SourceAfter(int32_t hops) const { return (rank_ + size() - hops) % size(); }

  Exchange Start(at::Tensor outgoing) {
    Exchange exchange;
    exchange.incoming = at::empty_like(outgoing);
    exchange.pending = group_.Exchange(outgoing, next_, exchange.incoming, previous_);
    exchange.outgoing = std::move(outgoing);
    return exchange;
  }

  // Returns what came.
  at::Tensor Finish(Exchange& exchange) {
    exchange.pending.received.Wait();
    exchange.pending.sent.Wait();
    exchange.outgoing.reset();
    return std::exchange(exchange.incoming, {});
  }

 private:
  Communicator& group_;
  const int32_t rank_;
  const int32_t next_;
  const int32_t previous_;
};

struct Range {
  int64_t begin = 0;
  int64_t count = 0;

  at::Tensor Of(const at::Tensor& tensor, int64_t dimension = 1) const {
    return tensor.narrow(dimension, begin, count);
  }
};

// Which of a rank's queries see which keys of `source`.
struct Sight {
  Range queries;
  Range keys;
  bool causal = false;
};

Sight SightOf(int32_t rank, int32_t source, int64_t seq_len) {
  const Range all = {.count = seq_len};
  const Range first = {.count = seq_len / 2};
  const Range second = {.begin = seq_len / 2, .count = seq_len / 2};
  if (source == rank) return {.queries = all, .keys = all, .causal = true};
  if (source < rank) return {.queries = all, .keys = first};
  return {.queries = second, .keys = all};
}

// Keys and values in one dense tensor [batch, seq_len, 2 kv_heads, head_dim], and its halves.
at::Tensor Pack(const at::Tensor& k, const at::Tensor& v) { return at::cat({k, v}, 2); }
at::Tensor Keys(const AttentionShape& shape, const at::Tensor& packed) {
  return packed.narrow(2, 0, shape.kv_heads);
}
at::Tensor Values(const AttentionShape& shape, const at::Tensor& packed) {
  return packed.narrow(2, shape.kv_heads, shape.kv_heads);
}

at::TensorOptions InAccumulatorType(const at::Tensor& tensor) {
  return tensor.options().dtype(at::toOpMathType(tensor.scalar_type()));
}

// Of [batch, queries, heads, head_dim] and of [batch, heads, queries].
kernels::HeadStrides StridesOfHeads(const at::Tensor& heads) {
  return {.batch = heads.stride(0), .query = heads.stride(1), .head = heads.stride(2)};
}
kernels::HeadStrides StridesOfStatistic(const at::Tensor& statistic) {
  return {.batch = statistic.stride(0), .query = statistic.stride(2), .head = statistic.stride(1)};
}

// Adds attention to further keys: output [batch, queries, heads, head_dim] and log_sum_exp [batch,
// heads, queries] become those of all keys so far.
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

// Of one round of the backward. Its sums have the accumulator type.
class RingGradient {
 public:
  RingGradient(Ring& ring, const AttentionShape& shape, const at::Tensor& q,
               const at::Tensor& packed)
      : ring_(ring),
        shape_(shape),
        dtype_(q.scalar_type()),
        own_(at::empty(packed.sizes(), InAccumulatorType(packed))) {
    for (int64_t call = 0; call < shape.calls(); ++call) {
      dq_.push_back(at::empty(HeadsOfCall(shape, q, call).sizes(), InAccumulatorType(q)));
    }
  }

  void Add(int32_t hops, int64_t call, const Sight& sight, const AttendedGradient& part) {
    const at::Tensor dq = sight.queries.Of(dq_[static_cast<size_t>(call)]);
    if (hops == 0) {
      dq.copy_(part.q);
    } else {
      dq.add_(part.q);
      if (call == 0) Arrive();
    }
    const at::Tensor& target = hops == 0 ? own_ : travelling_;
    const at::Tensor dk = sight.keys.Of(Keys(shape_, target));
    const at::Tensor dv = sight.keys.Of(Values(shape_, target));
    if (hops == 0 && call == 0) {
      dk.copy_(part.k);
      dv.copy_(part.v);
    } else {
      dk.add_(part.k);
      dv.add_(part.v);
    }
  }

  // After the work of a hop but the first: its gradients go on.
  void Pass() { exchange_ = ring_.Start(std::exchange(travelling_, {})); }

  AttentionGradient Take() {
    own_.add_(ring_.Finish(exchange_));
    AttentionGradient gradient;
    for (at::Tensor& sum : dq_) gradient.q.push_back(std::exchange(sum, {}).to(dtype_));
    const at::Tensor own = std::exchange(own_, {}).to(dtype_);
    gradient.k = Keys(shape_, own);
    gradient.v = Values(shape_, own);
    return gradient;
  }

 private:
  // Whoever is the first to see a rank's keys begins their sum.
  void Arrive() {
    travelling_ = exchange_.incoming.defined() ? ring_.Finish(exchange_) : at::zeros_like(own_);
  }

  Ring& ring_;
  const AttentionShape& shape_;
  const at::ScalarType dtype_;  // of the result
  std::vector<at::Tensor> dq_;  // by call
  at::Tensor own_;
  at::Tensor travelling_;  // gradients of the keys that are here
  Exchange exchange_;
};

}  // namespace

AttentionResult RingAttentionForward(RankContext& context, const AttentionShape& shape,
                                     const at::Tensor& q, const at::Tensor& k,
                                     const at::Tensor& v) {
  Ring ring(context);
  const at::Tensor sum = at::empty(q.sizes(), InAccumulatorType(q));
  AttentionResult result;
  at::Tensor packed = Pack(k, v);
  for (int32_t hops = 0; hops < ring.size(); ++hops) {
    const bool last = hops + 1 == ring.size();
    Exchange exchange = last ? Exchange() : ring.Start(packed);
    const Sight sight = SightOf(ring.rank(), ring.SourceAfter(hops), shape.seq_len);
    for (int64_t call = 0; call < shape.calls(); ++call) {
      AttendedHeads part = AttendForward(
          shape.backend, sight.queries.Of(HeadsOfCall(shape, q, call)),
          sight.keys.Of(Keys(shape, packed)), sight.keys.Of(Values(shape, packed)), sight.causal);
      const at::Tensor output = sight.queries.Of(HeadsOfCall(shape, sum, call));
      if (hops == 0) {
        output.copy_(part.output);
        result.statistics.push_back(std::move(part.statistics));
      } else {
        Merge(context, output, sight.queries.Of(result.statistics[call].log_sum_exp, 2), part);
      }
    }
    if (!last) packed = ring.Finish(exchange);
  }
  result.output = sum.to(q.scalar_type()).view({shape.batch * shape.seq_len, -1});
  return result;
}

AttentionGradient RingAttentionBackward(RankContext& context, const AttentionShape& shape,
                                        const at::Tensor& doutput, const at::Tensor& q,
                                        const at::Tensor& k, const at::Tensor& v,
                                        const AttentionResult& forward) {
  Ring ring(context);
  const at::Tensor dheads = doutput.view(q.sizes());
  const at::Tensor heads = forward.output.view(q.sizes());
  at::Tensor packed = Pack(k, v);
  RingGradient gradient(ring, shape, q, packed);
  for (int32_t hops = 0; hops < ring.size(); ++hops) {
    const bool last = hops + 1 == ring.size();
    Exchange exchange = last ? Exchange() : ring.Start(packed);
    const Sight sight = SightOf(ring.rank(), ring.SourceAfter(hops), shape.seq_len);
    for (int64_t call = 0; call < shape.calls(); ++call) {
      const auto queries = [&](const at::Tensor& tensor) {
        return sight.queries.Of(HeadsOfCall(shape, tensor, call));
      };
      AttentionStatistics statistics = forward.statistics[call];
      statistics.log_sum_exp = sight.queries.Of(statistics.log_sum_exp, 2);
      gradient.Add(
          hops, call, sight,
          AttendBackward(shape.backend, queries(dheads), queries(q),
                         sight.keys.Of(Keys(shape, packed)), sight.keys.Of(Values(shape, packed)),
                         queries(heads), statistics, sight.causal));
    }
    if (!last) packed = ring.Finish(exchange);
    if (hops > 0) gradient.Pass();
  }
  return gradient.Take();
}

}  // namespace meshwright::worker
