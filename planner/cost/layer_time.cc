#include "planner/cost/layer_time.h"

#include <algorithm>
#include <array>

namespace meshwright::planner {
namespace {

// Bytes per element for adding each block's result to a running sum in ring attention: the output
// forward, dk and dv backward.
constexpr double kRingMergeBytes = 12.0;

bool IsFlash(AttentionKernel kernel) {
  return kernel != AttentionKernel::kFusedSoftmax && kernel != AttentionKernel::kEager;
}

// Returns the work of the busiest rank of a ring, relative to the mean over ranks.
double LargestRingShare(const StepShape& step, const Operator& op) {
  if (step.context.profile.communication.balanced_ring) return 1.0;
  return 2.0 - 1.0 / static_cast<double>(op.attention.ring_stops);
}

double AttentionTime(const StepShape& step, const Operator& op, PassKind pass) {
  const bool forward = pass == PassKind::kForward;
  if (IsFlash(op.kernel)) {
    return FlashForwardTime(step.device, op.kernel, op.attention) * LargestRingShare(step, op) *
           (forward ? 1.0 : kAttentionBackwardRatio);
  }
  return forward ? UnfusedForwardTime(step.device, op.attention, op.score_traffic_bytes)
                 : UnfusedBackwardTime(step.device, op.attention, op.score_traffic_bytes);
}

// No operator takes less time than the host takes to launch the next operator.
double Launched(const StepShape& step, double time_s) {
  return std::max(time_s, step.context.profile.traffic.operator_host_s);
}

// An operator that streams no bytes does not exist in the framework, so it has no launch either.
double StreamTime(const StepShape& step, double bytes) {
  return bytes > 0.0 ? MemoryBoundTime(step.device, bytes) : 0.0;
}

NumberFormat InputsOf(const MatmulInputs& inputs, PassKind pass) {
  switch (pass) {
    case PassKind::kForward:
      return inputs.forward;
    case PassKind::kInputGradient:
      return inputs.input_gradient;
    case PassKind::kWeightGradient:
      break;
  }
  return inputs.weight_gradient;
}

void AddCompute(const StepShape& step, const ListCost& cost, const MatmulInputs& inputs,
                LayerTime& time) {
  std::array<double, kPasses.size()> times_s = {};
  for (const PassCost& cost_of_pass : cost.passes) {
    double time_s = StreamTime(step, cost_of_pass.stream_bytes);
    if (cost_of_pass.core_flops > 0.0) {
      time_s = std::max(time_s, CoreTime(step.device, cost_of_pass.core_flops));
    }
    if (cost_of_pass.multiplies) {
      time_s += MatmulTime(step.device, InputsOf(inputs, cost_of_pass.pass), cost_of_pass.product);
    }
    time_s = Launched(step, time_s);
    times_s[static_cast<size_t>(cost_of_pass.pass)] += time_s;
    if (cost_of_pass.repeated) time.input_gradient_s += time_s;
    time.recompute_s += cost_of_pass.recomputed_share * time_s;
  }
  time.forward_s += times_s[static_cast<size_t>(PassKind::kForward)];
  time.input_gradient_s += times_s[static_cast<size_t>(PassKind::kInputGradient)];
  time.weight_gradient_s += times_s[static_cast<size_t>(PassKind::kWeightGradient)];
}

void AddAttention(const StepShape& step, const Operator& op, LayerTime& time) {
  const double forward_s = Launched(step, AttentionTime(step, op, PassKind::kForward));
  time.forward_s += forward_s;
  if (!Runs(op, PassKind::kInputGradient)) return;
  time.input_gradient_s += Launched(step, AttentionTime(step, op, PassKind::kInputGradient));
  if (op.recomputed) time.recompute_s += forward_s;
}

// Returns the seconds that the ring exposes. The ring passes keys and values on while attention
// works on the block before; attention takes `attention_s` in total. Communication that takes
// longer than a block is exposed, and so is the sum of the parts. Ranks hold a block from either
// end of the sequence, so that all have the same work.
double RingTime(const StepShape& step, const Operator& op, PassKind pass, double attention_s) {
  double hop_s = 0.0;
  for (const OperatorCollective& message : op.pass(pass).collectives) {
    hop_s += SendTime(step.network, step.cp_group, static_cast<double>(message.bytes));
  }
  const AttentionShape& shape = op.attention;
  const int64_t width = pass == PassKind::kForward
                            ? shape.attended_width()
                            : shape.query_width() + shape.key_width() + shape.value_width();
  const double merge_bytes = kRingMergeBytes * static_cast<double>(op.element_bytes) / 2.0 *
                             static_cast<double>(shape.tokens * width);
  const auto stops = static_cast<double>(shape.ring_stops);
  const double exposed_s = std::max(0.0, hop_s - attention_s / stops);
  return (stops - 1.0) * (exposed_s + Launched(step, StreamTime(step, merge_bytes)));
}

void AddRing(const StepShape& step, const Operator& op, LayerTime& time) {
  if (op.attention.ring_stops == 1) return;
  const double attention_s = AttentionTime(step, op, PassKind::kForward);
  time.cp_forward_s += RingTime(step, op, PassKind::kForward, attention_s);
  if (!Runs(op, PassKind::kInputGradient)) return;
  time.cp_backward_s +=
      RingTime(step, op, PassKind::kInputGradient, attention_s * kAttentionBackwardRatio);
}

// Recurrences exchange tokens for heads, and sparse attention gathers its keys.
void AddContextCollectives(const StepShape& step, const ListCost& cost, LayerTime& time) {
  for (const CollectiveCost& collective : cost.context_collectives) {
    const auto bytes = static_cast<double>(collective.bytes);
    double time_s = 0.0;
    if (collective.kind == CollectiveKind::kAllToAll) {
      time_s = AllToAllTime(step.network, step.cp_group, {.bytes = bytes});
    } else if (collective.kind == CollectiveKind::kAllGather) {
      time_s = AllGatherTime(step.network, step.cp_group, bytes);
    } else {
      time_s = ReduceScatterTime(step.network, step.cp_group, bytes);
    }
    time_s = Launched(step, time_s);
    const bool forward = collective.pass == PassKind::kForward;
    (forward ? time.cp_forward_s : time.cp_backward_s) += time_s;
    if (collective.recomputed) time.cp_recompute_s += time_s;
  }
}

// Times collectives over a group; each kind and size is computed once.
class CollectiveTimes {
 public:
  CollectiveTimes(const StepShape& step, const RankGroup& group) : step_(step), group_(group) {}

  double Of(CollectiveKind kind, int64_t bytes) {
    Known& known = known_[static_cast<size_t>(kind)];
    if (known.bytes != bytes) {
      known = {.bytes = bytes, .time_s = Time(kind, bytes)};
      if (group_.ranks() > 1) known.time_s = Launched(step_, known.time_s);
    }
    return known.time_s;
  }

 private:
  struct Known {
    int64_t bytes = -1;
    double time_s = 0.0;
  };

  double Time(CollectiveKind kind, int64_t bytes) const {
    const auto all = static_cast<double>(bytes);
    switch (kind) {
      case CollectiveKind::kAllReduce:
        return AllReduceTime(step_.network, group_, all);
      case CollectiveKind::kAllGather:
        return AllGatherTime(step_.network, group_, all);
      case CollectiveKind::kReduceScatter:
        return ReduceScatterTime(step_.network, group_, all);
      case CollectiveKind::kAllToAll:
      case CollectiveKind::kBroadcast:
      case CollectiveKind::kSend:
      case CollectiveKind::kReceive:
        break;  // no operator does these over the ranks that share a matrix
    }
    return 0.0;
  }

  const StepShape& step_;
  const RankGroup& group_;
  std::array<Known, kCollectiveKindNames.size()> known_;  // by CollectiveKind
};

// Subtracts the part of a layer's tensor-parallel collectives that compute hides, pass by pass.
void HideTensorParallel(const StepShape& step, LayerTime& time) {
  const double hidden = step.context.profile.communication.tensor_parallel_overlap;
  time.tp_forward_s -= std::min(hidden * time.tp_forward_s, time.forward_s);
  time.tp_backward_s -= std::min(hidden * time.tp_backward_s, time.backward_s());
  time.tp_recompute_s -= std::min(hidden * time.tp_recompute_s, time.recompute_s);
}

// `price(collective)` returns seconds.
template <typename Price>
void AddTensorParallel(const ListCost& cost, const Price& price, LayerTime& time) {
  for (const CollectiveCost& collective : cost.collectives) {
    if (collective.group != GroupRole::kTensor) continue;
    double& sum_s = collective.pass == PassKind::kForward ? time.tp_forward_s : time.tp_backward_s;
    const double time_s = price(collective);
    sum_s += time_s;
    if (collective.recomputed) time.tp_recompute_s += time_s;
  }
}

double AllToAllTime(const StepShape& step, const BlockShape& shape, int64_t bytes) {
  const Experts& experts = shape.experts;
  const bool limited = experts.groups > 1;
  return AllToAllTime(step.network, step.experts.experts,
                      {.bytes = static_cast<double>(bytes),
                       .per_token = experts.top_k,
                       .deduplicated = step.context.profile.communication.deduplicates_tokens,
                       .most_nodes = limited ? experts.top_groups : 0});
}

// Tokens go to their experts and come back, twice each way.
void AddExpertParallel(const StepShape& step, const BlockShape& shape, const ListCost& cost,
                       LayerTime& time) {
  CollectiveTimes inside(step, step.experts.tensor);
  for (const CollectiveCost& collective : cost.collectives) {
    if (collective.group == GroupRole::kTensor) continue;
    double& sum_s = collective.pass == PassKind::kForward ? time.ep_forward_s : time.ep_backward_s;
    const double time_s = collective.kind == CollectiveKind::kAllToAll
                              ? Launched(step, AllToAllTime(step, shape, collective.bytes))
                              : inside.Of(collective.kind, collective.bytes);
    sum_s += time_s;
    if (collective.recomputed) time.ep_recompute_s += time_s;
  }
}

// Subtracts the part of the collectives of a layer's experts that compute hides, pass by pass.
void HideExpertParallel(const StepShape& step, LayerTime& time) {
  const Communication& communication = step.context.profile.communication;
  const double hidden = step.network.Inside(step.experts.experts)
                            ? communication.all_to_all_overlap
                            : communication.all_to_all_overlap_across;
  time.ep_forward_s -= std::min(hidden * time.ep_forward_s, time.forward_s);
  time.ep_backward_s -= std::min(hidden * time.ep_backward_s, time.backward_s());
  time.ep_recompute_s -= std::min(hidden * time.ep_recompute_s, time.recompute_s);
}

// Returns the host's seconds for the tensor-parallel rings of one pass, where the framework drives
// every step of them itself: two rings each way, in both directions.
double HostRingTime(const StepShape& step) {
  const FrameworkProfile& profile = step.context.profile;
  if (profile.KeepsGatheredInputs(step.layout)) return 0.0;
  return 4.0 * static_cast<double>(step.layout.tp - 1) * profile.communication.tp_hop_s;
}

// Returns the kernel launches for a rank's experts in forward and backward, where they are launched
// one after another: in most narrow formats the casts of both products' inputs and gradients, each
// with a kernel that finds its scale or reorders its scales for the products. The six products
// themselves are launched by one call from C++, and together take about as long as one such cast.
double ExpertLaunches(const BlockShape& shape) {
  constexpr double kProducts = 1.0;
  constexpr double kCasts = 8.0;
  const double launches = kProducts + (shape.quantisation.casts_by_expert ? kCasts : 0.0);
  return launches * static_cast<double>(shape.rank_experts());
}

MatmulInputs BlockInputs(const StepShape& step, const BlockShape& shape) {
  const Quantisation& quantisation = shape.quantisation;
  if (!quantisation.narrows()) return step.device.formats.matmul_inputs;
  return {quantisation.products, quantisation.products, quantisation.products};
}

// At the model's ends the residual stream crosses the TP group once each way, which is timed as one
// all-reduce, as it is without sequence parallel. Statistics of the loss, three numbers per token,
// are not counted.
LayerTime EstimateEnd(const StepShape& step, const ListCost& cost) {
  LayerTime time;
  AddCompute(step, cost, step.device.formats.matmul_inputs, time);
  CollectiveTimes times(step, step.tp_group);
  const auto price = [&](const CollectiveCost& collective) {
    const bool gathers = collective.kind == CollectiveKind::kAllGather;
    if (collective.of_loss != gathers) return 0.0;
    return times.Of(gathers ? CollectiveKind::kAllGather : CollectiveKind::kAllReduce,
                    collective.bytes);
  };
  AddTensorParallel(cost, price, time);
  return time;
}

// Returns the time of operators of a block, however slow the host is.
LayerTime EstimateOperators(const StepShape& step, const BlockSums& block, const ListCost& cost) {
  LayerTime time = TimeWithoutOverlap(step, block, cost);
  if (block.shape.has_experts()) HideExpertParallel(step, time);
  HideTensorParallel(step, time);
  return time;
}

LayerTime EstimateBlock(const StepShape& step, const BlockSums& block) {
  LayerTime time = EstimateOperators(step, block, block.layer_cost);
  const LayerTime wait = HostWait(step, block, time);
  time.forward_s += wait.forward_s;
  time.input_gradient_s += wait.input_gradient_s;
  time.weight_gradient_s += wait.weight_gradient_s;
  return time;
}

}  // namespace

LayerTime TimeWithoutOverlap(const StepShape& step, const BlockSums& block, const ListCost& cost) {
  LayerTime time;
  AddCompute(step, cost, BlockInputs(step, block.shape), time);
  if (cost.attention != nullptr) {
    AddAttention(step, *cost.attention, time);
    AddRing(step, *cost.attention, time);
  }
  AddContextCollectives(step, cost, time);
  if (block.shape.has_experts()) AddExpertParallel(step, block.shape, cost, time);
  CollectiveTimes times(step, step.tp_group);
  const auto price = [&](const CollectiveCost& collective) {
    return times.Of(collective.kind, collective.bytes);
  };
  AddTensorParallel(cost, price, time);
  return time;
}

// A third of the launches for experts are the forward's.
LayerTime HostWait(const StepShape& step, const BlockSums& block, const LayerTime& time) {
  const OperatorTraffic& traffic = step.context.profile.traffic;
  const double operator_s = traffic.host_share * step.context.cluster.host.operator_s;
  const double experts_s = traffic.expert_launch_s * ExpertLaunches(block.shape);
  const double rings_s = HostRingTime(step);
  const double forward_s =
      time.forward_s + time.tp_forward_s + time.cp_forward_s + time.ep_forward_s;
  const double forward_floor_s =
      operator_s * block.layer_cost.forward_operators + experts_s / 3.0 + rings_s;
  LayerTime wait = {.forward_s = std::max(0.0, forward_floor_s - forward_s)};
  if (!time.has_backward()) return wait;
  const double backward_s =
      time.backward_s() + time.tp_backward_s + time.cp_backward_s + time.ep_backward_s;
  const double backward_floor_s =
      operator_s * block.layer_cost.backward_operators + experts_s * 2.0 / 3.0 + rings_s;
  const double missing_s = std::max(0.0, backward_floor_s - backward_s);
  const double weights_share = time.weight_gradient_s > 0.0 ? 0.5 : 0.0;
  wait.input_gradient_s = missing_s * (1.0 - weights_share);
  wait.weight_gradient_s = missing_s * weights_share;
  return wait;
}

LayerTime EstimateLayer(const StepShape& step, size_t shape) {
  return EstimateBlock(step, step.planned.block(shape));
}

LayerTime EstimateTowerBlock(const StepShape& step, const TowerSums& tower) {
  return EstimateBlock(step, *tower.block);
}

LayerTime EstimateTowerEnds(const StepShape& step, const TowerSums& tower) {
  return EstimateEnd(step, tower.ends_cost);
}

LayerTime Recomputed(const StepShape& step, const BlockSums& block, const LayerTime& layer) {
  LayerTime time = layer;
  if (!layer.has_backward()) return time;
  time.recompute_s = layer.forward_s;
  time.tp_recompute_s = layer.tp_forward_s;
  time.cp_recompute_s = layer.cp_forward_s;
  time.ep_recompute_s = layer.ep_forward_s;
  if (block.skipped_cost.passes.empty()) return time;
  const LayerTime skipped = EstimateOperators(step, block, block.skipped_cost);
  time.recompute_s = std::max(0.0, layer.forward_s - skipped.forward_s);
  time.tp_recompute_s = std::max(0.0, layer.tp_forward_s - skipped.tp_forward_s);
  time.ep_recompute_s = std::max(0.0, layer.ep_forward_s - skipped.ep_forward_s);
  return time;
}

LayerTime EstimateHead(const StepShape& step) {
  return EstimateEnd(step, step.planned.ends().head_cost);
}

LayerTime EstimateMtp(const StepShape& step) {
  return EstimateEnd(step, step.planned.ends().mtp_cost);
}

LayerTime EstimateEmbedding(const StepShape& step) {
  return EstimateEnd(step, step.planned.ends().embedding_cost);
}

}  // namespace meshwright::planner
