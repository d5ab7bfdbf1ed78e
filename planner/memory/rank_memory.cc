#include "planner/memory/rank_memory.h"

#include "planner/memory/layout_activations.h"
#include "planner/memory/layout_parameters.h"

namespace meshwright {
namespace {

int64_t DivideUp(int64_t value, int64_t divisor) { return (value + divisor - 1) / divisor; }

// fp32 gradients need no other copy.
int64_t GradientBytes(const EstimateContext& context) {
  return context.training.precision == Precision::kFp32 ? 4 : context.profile.gradient_bytes;
}

// ZeRO shards the model states over data and context ranks.
void AddModelStates(const EstimateContext& context, const Layout& layout, int64_t parameters,
                    MemoryEstimate& memory) {
  const Precision precision = context.training.precision;
  const int64_t shard = DivideUp(parameters, int64_t{layout.dp} * layout.cp);
  // fp32 weights are their own master copy.
  const int64_t optimizer_bytes =
      context.profile.optimizer_bytes - (precision == Precision::kFp32 ? 4 : 0);
  memory.weights_bytes = (layout.zero >= 3 ? shard : parameters) * ElementBytes(precision);
  memory.gradients_bytes = (layout.zero >= 2 ? shard : parameters) * GradientBytes(context);
  memory.optimizer_bytes = (layout.zero >= 1 ? shard : parameters) * optimizer_bytes;
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

  MemoryEstimate OnRank(int32_t pipeline_rank) const {
    MemoryEstimate memory;
    memory.pipeline_rank = pipeline_rank;
    AddModelStates(context_, layout_, parameters_.OnRank(pipeline_rank), memory);
    const ActivationBytes activations = activations_.OnRank(pipeline_rank);
    memory.activations_bytes = activations.kept_bytes;
    memory.loss_bytes = activations.loss_bytes;
    memory.workspace_bytes =
        activations.workspace_bytes + GatheredBytes(context_, layout_, parameters_.largest_unit());
    const HardwareProfile& device = context_.cluster.device;
    memory.overhead_bytes =
        device.context_bytes + (layout_.devices() > 1 ? device.communicator_bytes : 0);
    return memory;
  }

 private:
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

MemoryEstimate EstimateMemory(const EstimateContext& context, const Layout& layout) {
  const LayoutMemory memory(context, layout);
  MemoryEstimate fullest = memory.OnRank(0);
  for (int32_t rank = 1; rank < layout.pp; ++rank) {
    const MemoryEstimate other = memory.OnRank(rank);
    if (other.total_bytes() > fullest.total_bytes()) fullest = other;
  }
  return fullest;
}

int64_t EstimateMeasuredPeakBytes(const EstimateContext& context, const Layout& layout) {
  switch (context.profile.peak_rank) {
    case PeakRank::kFirst:
      return EstimateRankMemory(context, layout, 0).allocator_bytes();
    case PeakRank::kLast:
      return EstimateRankMemory(context, layout, layout.pp - 1).allocator_bytes();
    case PeakRank::kFullest:
      break;
  }
  return EstimateMemory(context, layout).allocator_bytes();
}

}  // namespace meshwright
