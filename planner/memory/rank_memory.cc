#include "planner/memory/rank_memory.h"

#include <algorithm>

#include "planner/memory/communicators.h"
#include "planner/memory/layout_activations.h"
#include "planner/memory/layout_parameters.h"
#include "planner/memory/unit_shards.h"

namespace meshwright::planner {
namespace {

int64_t DivideUp(int64_t value, int64_t divisor) { return (value + divisor - 1) / divisor; }

// Gradients as wide as the optimizer's states need no other copy.
int64_t GradientBytes(const EstimateContext& context) {
  const Precision precision = context.training.precision;
  return precision == Precision::kBf16 ? context.profile.states.gradient_bytes
                                       : AccumulatorBytes(precision);
}

// Frameworks' figures are those of mixed precision: a master copy and states in fp32. Weights that
// are as wide as the states are their own master copy.
int64_t OptimizerBytes(const EstimateContext& context) {
  const Precision precision = context.training.precision;
  const int64_t mixed_bytes = context.profile.states.optimizer_bytes;
  if (precision == Precision::kBf16) return mixed_bytes;
  return (mixed_bytes - 4) * AccumulatorBytes(precision) / 4;
}

// A rank's parameters as model states hold them.
struct HeldParameters {
  int64_t whole = 0;
  int64_t shard = 0;
  int64_t whole_gradients = 0;  // which stay whole where the others are a shard
};

// ZeRO shards the model states over data and context ranks.
HeldParameters HeldBy(const EstimateContext& context, const Layout& layout,
                      const LayoutParameters& parameters, int32_t pipeline_rank) {
  const int64_t ranks = int64_t{layout.dp} * layout.cp;
  const int64_t all = parameters.OnRank(pipeline_rank);
  HeldParameters held = {.whole = all, .shard = DivideUp(all, ranks)};
  if (context.profile.engine != Engine::kWorker || layout.zero == 0 || ranks == 1) return held;
  // The worker divides every unit; gradients of vectors stay whole.
  held.shard = 0;
  parameters.ForEachUnit(pipeline_rank, [&](const UnitParameters& unit, int64_t count) {
    held.shard += count * ShardElements(unit.all, ranks, context.training.precision);
    held.whole_gradients += count * unit.vectors;
  });
  held.whole = held.shard * ranks;
  return held;
}

void AddModelStates(const EstimateContext& context, const Layout& layout,
                    const HeldParameters& parameters, MemoryEstimate& memory) {
  const Precision precision = context.training.precision;
  const FrameworkProfile& profile = context.profile;
  int64_t optimizer_bytes = OptimizerBytes(context);
  if (layout.zero >= 1) optimizer_bytes += profile.states.shard_buffer_bytes;
  if (layout.zero >= 3 && precision == Precision::kBf16) {
    optimizer_bytes =
        profile.states.zero3_state_bytes - ElementBytes(precision) - profile.states.gradient_bytes;
  }
  const int64_t gradients =
      layout.zero >= 2 ? parameters.shard + parameters.whole_gradients : parameters.whole;
  memory.weights_bytes =
      (layout.zero >= 3 ? parameters.shard : parameters.whole) * ElementBytes(precision);
  memory.gradients_bytes =
      gradients * GradientBytes(context) +
      (layout.zero <= 1 ? parameters.whole * profile.states.local_gradient_bytes : 0);
  memory.optimizer_bytes =
      (layout.zero >= 1 ? parameters.shard : parameters.whole) * optimizer_bytes;
}

// The optimizer step comes when the activations are gone; what it holds for itself counts where it
// is more than they were.
void AddOptimizerStep(const FrameworkProfile& profile, int64_t parameters, MemoryEstimate& memory) {
  const auto step_bytes = static_cast<int64_t>(profile.states.step_bytes_per_parameter *
                                               static_cast<double>(parameters));
  if (step_bytes <= memory.activations_bytes + memory.loss_bytes + memory.workspace_bytes) return;
  memory.activations_bytes = 0;
  memory.loss_bytes = 0;
  memory.workspace_bytes = step_bytes;
}

// Buffers of communicators. Of a framework every axis with more than one rank has one; the worker's
// are known.
int64_t CommunicatorBytes(const EstimateContext& context, const Layout& layout,
                          int32_t pipeline_rank) {
  const HardwareProfile& device = context.cluster.device;
  if (context.profile.engine == Engine::kWorker) {
    return BufferBytes(device,
                       CommunicatorsOf(layout, context.model.tied_embeddings, pipeline_rank));
  }
  const int64_t axes = (layout.tp > 1 ? 1 : 0) + (layout.pp > 1 ? 1 : 0) +
                       (int64_t{layout.dp} * layout.cp > 1 ? 1 : 0);
  return axes * device.communicator_bytes;
}

// ZeRO-2 and 3 hold what is on its way: the gradients of one unit, and under ZeRO-3 the weights of
// two.
int64_t GatheredBytes(const EstimateContext& context, const Layout& layout, int64_t unit) {
  if (layout.zero < 2) return 0;
  const int64_t weights =
      layout.zero == 3 ? 2 * unit * ElementBytes(context.training.precision) : 0;
  return weights + unit * GradientBytes(context);
}

// One layout's memory; what its ranks have in common is worked out once.
class LayoutMemory {
 public:
  LayoutMemory(const EstimateContext& context, const Layout& layout)
      : context_(context),
        layout_(layout),
        parameters_(context, layout),
        activations_(context, layout) {}

  // Calls visit(rank) for ranks one of which is the fullest. Under the worker's rules all ranks
  // between the first and the last hold the same stages, and the outer ones keep the most, unless
  // the schedule moves weight gradients.
  template <typename Visit>
  void ForEachCandidate(const Visit& visit) const {
    constexpr int32_t kOuter = 2;
    const bool all = HasWeightActions(layout_.schedule) || !activations_.WorkerRulesApply();
    for (int32_t rank = 0; rank < layout_.pp; ++rank) {
      if (all || rank < kOuter || rank >= layout_.pp - kOuter) visit(rank);
    }
  }

  MemoryEstimate OnRank(int32_t pipeline_rank) const {
    return With(HeldBy(context_, layout_, parameters_, pipeline_rank), pipeline_rank,
                activations_.OnRank(pipeline_rank));
  }

  MemoryBounds BoundsOnRank(int32_t pipeline_rank) const {
    if (!activations_.WorkerRulesApply()) {
      const int64_t bytes = OnRank(pipeline_rank).total_bytes();
      return {bytes, bytes};
    }
    const HeldParameters parameters = HeldBy(context_, layout_, parameters_, pipeline_rank);
    const WorkerBounds bounds = activations_.BoundsOnRank(pipeline_rank);
    const auto total = [&](const ActivationBytes& activations) {
      return With(parameters, pipeline_rank, activations).total_bytes();
    };
    // How much is kept, and so is fragmented, the bounds don't know.
    return {total({.workspace_bytes = bounds.least_bytes}),
            total({.kept_bytes = bounds.most_bytes})};
  }

 private:
  MemoryEstimate With(const HeldParameters& parameters, int32_t pipeline_rank,
                      const ActivationBytes& activations) const {
    MemoryEstimate memory;
    memory.pipeline_rank = pipeline_rank;
    AddModelStates(context_, layout_, parameters, memory);
    memory.activations_bytes = activations.kept_bytes;
    memory.loss_bytes = activations.loss_bytes;
    memory.workspace_bytes = activations.workspace_bytes;
    if (!activations_.WorkerRulesApply()) {
      memory.workspace_bytes += GatheredBytes(context_, layout_, parameters_.largest_unit());
    }
    AddOptimizerStep(context_.profile, parameters.whole, memory);
    memory.workspace_bytes += context_.profile.kept.fixed_bytes;
    const HardwareProfile& device = context_.cluster.device;
    if (context_.profile.engine == Engine::kWorker) {
      memory.workspace_bytes += device.matmul_workspace_bytes;
    }
    memory.fragmentation_bytes = FragmentationBytes(memory);
    memory.overhead_bytes =
        device.context_bytes + CommunicatorBytes(context_, layout_, pipeline_rank);
    return memory;
  }

  // Blocks that the caching allocator reserves and can't hand out. Micro-batches that run one after
  // the other take and return the same blocks in a stack's order and leave no gaps.
  int64_t FragmentationBytes(const MemoryEstimate& memory) const {
    if (layout_.pp == 1) return 0;
    return static_cast<int64_t>(context_.profile.kept.fragmentation *
                                static_cast<double>(memory.activations_bytes));
  }

  const EstimateContext& context_;
  const Layout& layout_;
  LayoutParameters parameters_;
  LayoutActivations activations_;
};

}  // namespace

MemoryEstimate EstimateRankMemory(const EstimateContext& context, const Layout& layout,
                                  int32_t pipeline_rank) {
  return LayoutMemory(context, layout).OnRank(pipeline_rank);
}

std::vector<int64_t> EstimateAllocatorBytes(const EstimateContext& context, const Layout& layout) {
  const LayoutMemory memory(context, layout);
  std::vector<int64_t> bytes;
  for (int32_t rank = 0; rank < layout.pp; ++rank) {
    bytes.push_back(memory.OnRank(rank).allocator_bytes());
  }
  return bytes;
}

std::vector<int64_t> EstimateCommunicatorBytes(const EstimateContext& context,
                                               const Layout& layout) {
  std::vector<int64_t> bytes;
  for (int32_t rank = 0; rank < layout.pp; ++rank) {
    bytes.push_back(CommunicatorBytes(context, layout, rank));
  }
  return bytes;
}

MemoryBounds BoundMemory(const EstimateContext& context, const Layout& layout) {
  const LayoutMemory memory(context, layout);
  MemoryBounds bounds;
  memory.ForEachCandidate([&](int32_t rank) {
    const MemoryBounds on_rank = memory.BoundsOnRank(rank);
    bounds.least_bytes = std::max(bounds.least_bytes, on_rank.least_bytes);
    bounds.most_bytes = std::max(bounds.most_bytes, on_rank.most_bytes);
  });
  return bounds;
}

MemoryEstimate EstimateMemory(const EstimateContext& context, const Layout& layout) {
  const LayoutMemory memory(context, layout);
  MemoryEstimate fullest;
  memory.ForEachCandidate([&](int32_t rank) {
    const MemoryEstimate other = memory.OnRank(rank);
    if (other.total_bytes() > fullest.total_bytes()) fullest = other;
  });
  return fullest;
}

int64_t EstimateMeasuredPeakBytes(const EstimateContext& context, const Layout& layout) {
  const LayoutMemory memory(context, layout);
  const auto measured = [&](int32_t rank) {
    const MemoryEstimate estimate = memory.OnRank(rank);
    return estimate.allocator_bytes() + (context.profile.kept.peak_kind == PeakKind::kReserved
                                             ? estimate.fragmentation_bytes
                                             : 0);
  };
  if (context.profile.kept.peak_rank == PeakRank::kFirst) return measured(0);
  if (context.profile.kept.peak_rank == PeakRank::kLast) return measured(layout.pp - 1);
  int64_t most = 0;
  for (int32_t rank = 0; rank < layout.pp; ++rank) most = std::max(most, measured(rank));
  return most;
}

}  // namespace meshwright::planner
