#include "planner/memory/rank_memory.h"

#include <algorithm>

#include "absl/container/inlined_vector.h"
#include "base/text/status_macros.h"
#include "planner/layout/mesh.h"
#include "planner/memory/exact_memory.h"
#include "planner/memory/host_use.h"
#include "planner/memory/profile_memory.h"
#include "planner/spec/node_placement.h"

namespace meshwright::planner {
namespace {

void AddOptimizerStep(int64_t step_bytes, MemoryEstimate& memory) {
  if (step_bytes <= memory.activations_bytes + memory.loss_bytes + memory.workspace_bytes) return;
  memory.activations_bytes = 0;
  memory.loss_bytes = 0;
  memory.workspace_bytes = step_bytes;
}

void MoveTo(int64_t& host_bytes, int64_t& device_bytes) {
  host_bytes += device_bytes;
  device_bytes = 0;
}

// Returns what the host holds beside the states that moved there.
int64_t HostCopyBytes(const FrameworkProfile& profile, const Layout& layout,
                      const HeldParameters& held) {
  const int64_t owned = layout.zero >= 1 ? held.trained_shard() : held.trained();
  return owned * int64_t{profile.states.host_copy_bytes};
}

// Moves moments to the host as far as the device is fuller than kPagingShare.
void PageOut(const EstimateContext& context, int64_t moment_bytes, MemoryEstimate& memory) {
  const auto room =
      static_cast<int64_t>(kPagingShare * static_cast<double>(context.cluster.device.memory_bytes));
  const int64_t missing = memory.total_bytes() - room;
  memory.paged_bytes = std::clamp<int64_t>(missing, 0, moment_bytes);
  memory.optimizer_bytes -= memory.paged_bytes;
  memory.host_bytes += memory.paged_bytes;
}

// Adds up a rank's memory from the layout's memory model.
class RankMemory {
 public:
  RankMemory(const PlannedLayout& planned, const MemoryModel& model)
      : context_(planned.context()), layout_(planned.layout()), model_(model) {}

  // Calls visit(rank) for a set of ranks that includes the fullest.
  template <typename Visit>
  void ForEachCandidate(const Visit& visit) const {
    constexpr int32_t kOuter = 2;
    const bool all = !model_.OuterRanksAreFullest();
    for (int32_t rank = 0; rank < layout_.pp; ++rank) {
      if (all || rank < kOuter || rank >= layout_.pp - kOuter) visit(rank);
    }
  }

  MemoryEstimate OnRank(int32_t pipeline_rank) const {
    return OnRank(pipeline_rank, model_.ActivationsOnRank(pipeline_rank));
  }
  MemoryEstimate OnRank(int32_t pipeline_rank, const ActivationBytes& activations) const {
    return With(model_.HeldOnRank(pipeline_rank), pipeline_rank, activations);
  }

  int64_t CommunicatorBytes(int32_t pipeline_rank) const {
    return model_.CommunicatorBytes(pipeline_rank);
  }

  MemoryBounds BoundsOnRank(int32_t pipeline_rank) const {
    const HeldParameters held = model_.HeldOnRank(pipeline_rank);
    const ActivationBounds bounds = model_.BoundsOnRank(pipeline_rank);
    const int64_t least = With(held, pipeline_rank, bounds.least).total_bytes();
    if (bounds.least == bounds.most) return {least, least};
    return {least, With(held, pipeline_rank, bounds.most).total_bytes()};
  }

 private:
  MemoryEstimate With(const HeldParameters& held, int32_t pipeline_rank,
                      const ActivationBytes& activations) const {
    ModelStateBytes states = StatesOf(context_, layout_, held);
    int64_t host_bytes = activations.host_bytes;
    if (layout_.offload.optimizer) {
      host_bytes += states.optimizer_bytes + HostCopyBytes(context_.profile, layout_, held);
      states.optimizer_bytes = 0;
    }
    if (layout_.offload.parameters) MoveTo(host_bytes, states.weights_bytes);
    if (layout_.offload.gradients) MoveTo(host_bytes, states.gradients_bytes);
    MemoryEstimate memory = {.weights_bytes = states.weights_bytes,
                             .gradients_bytes = states.gradients_bytes,
                             .optimizer_bytes = states.optimizer_bytes,
                             .activations_bytes = activations.kept_bytes,
                             .loss_bytes = activations.loss_bytes,
                             .workspace_bytes = activations.workspace_bytes,
                             .host_bytes = host_bytes,
                             .pipeline_rank = pipeline_rank};
    if (!layout_.offload.optimizer) {
      AddOptimizerStep(OptimizerStepBytes(context_.profile, layout_, held), memory);
    }
    memory.workspace_bytes += model_.LibraryBytes();
    memory.fragmentation_bytes =
        FragmentationBytes(context_, layout_, memory.activations_bytes, memory.loss_bytes);
    memory.overhead_bytes =
        context_.cluster.device.context_bytes + model_.CommunicatorBytes(pipeline_rank);
    if (context_.correction != nullptr) {
      const int64_t estimated_bytes = memory.total_bytes();
      memory.correction_bytes = context_.correction->PeakBytes(estimated_bytes) - estimated_bytes;
    }
    if (context_.training.optimizer.paged && !layout_.offload.optimizer) {
      PageOut(context_, MomentBytes(context_, layout_, held), memory);
    }
    return memory;
  }

  const EstimateContext& context_;
  const Layout& layout_;
  const MemoryModel& model_;
};

// Calls use(memory) with the memory of the layout under the model that the profile asks for. This
// is the only place that chooses the model.
template <typename Use>
auto WithMemory(const PlannedLayout& planned, const Use& use) {
  if (planned.context().profile.engine == Engine::kWorker) {
    const ExactMemory exact(planned);
    return use(RankMemory(planned, exact));
  }
  const ProfileMemory profile(planned);
  return use(RankMemory(planned, profile));
}

// Returns bytes_of() each pipeline rank.
template <typename BytesOf>
std::vector<int64_t> OfEachRank(const Layout& layout, const BytesOf& bytes_of) {
  std::vector<int64_t> bytes(static_cast<size_t>(layout.pp));
  for (int32_t rank = 0; rank < layout.pp; ++rank)
    bytes[static_cast<size_t>(rank)] = bytes_of(rank);
  return bytes;
}

// Returns the largest sum over the nodes, which the ranks fill one after another.
int64_t MostOfANode(const PlannedLayout& planned, const std::vector<int64_t>& by_pipeline_rank) {
  const EstimateContext& context = planned.context();
  const Mesh mesh(planned.layout(), context.profile.communication.mesh_order);
  const int64_t per_node = FillNodes(mesh.ranks(), context.cluster.devices_per_node).per_node;
  if (mesh.stride(Axis::kPp) % per_node == 0) {
    return per_node * *std::max_element(by_pipeline_rank.begin(), by_pipeline_rank.end());
  }
  int64_t most = 0;
  int64_t node = 0;
  for (int64_t rank = 0; rank < mesh.ranks(); ++rank) {
    if (rank % per_node == 0) node = 0;
    const int32_t place = mesh.PlaceOf(static_cast<int32_t>(rank), Axis::kPp);
    node += by_pipeline_rank[static_cast<size_t>(place)];
    most = std::max(most, node);
  }
  return most;
}

}  // namespace

double GraphPoolShare(const EstimateContext& context) {
  const bool captures = context.training.options.cuda_graphs == CudaGraphs::kIteration;
  return captures ? context.profile.kept.graph_pool_share : 0.0;
}

int64_t FragmentationBytes(const EstimateContext& context, const Layout& layout,
                           int64_t activations_bytes, int64_t loss_bytes) {
  const double gaps = layout.pp > 1 ? context.profile.kept.fragmentation : 0.0;
  const auto pooled = static_cast<double>(activations_bytes + loss_bytes);
  return static_cast<int64_t>(gaps * static_cast<double>(activations_bytes)) +
         static_cast<int64_t>(GraphPoolShare(context) * pooled);
}

int64_t OptimizerStepBytes(const FrameworkProfile& profile, const Layout& layout,
                           const HeldParameters& held) {
  const ModelStates& states = profile.states;
  int64_t owned = layout.zero >= 1 ? held.trained_shard() : held.trained();
  const int64_t group = layout.zero >= 3 ? states.step_group_parameters : 0;
  if (group > 0) owned = std::min(owned, group);
  return static_cast<int64_t>(states.step_bytes_per_parameter *
                                  static_cast<double>(held.trained()) +
                              states.step_bytes_per_owned_parameter * static_cast<double>(owned));
}

int64_t HostBytesOfNode(const PlannedLayout& planned) {
  if (!FillsHost(planned.context().training, planned.layout())) return 0;
  return WithMemory(planned, [&](const RankMemory& memory) {
    return MostOfANode(planned, OfEachRank(planned.layout(), [&](int32_t rank) {
                         return memory.OnRank(rank).host_bytes;
                       }));
  });
}

MemoryEstimate EstimateRankMemory(const EstimateContext& context, const Layout& layout,
                                  int32_t pipeline_rank) {
  return WithMemory(PlannedLayout(context, layout),
                    [&](const RankMemory& memory) { return memory.OnRank(pipeline_rank); });
}

absl::StatusOr<MemoryEstimate> EstimateRoutedRankMemory(const EstimateContext& context,
                                                        const Layout& layout, int32_t pipeline_rank,
                                                        absl::Span<const ExpertRows> rows) {
  const PlannedLayout planned(context, layout);
  const ExactMemory exact(planned);
  ASSIGN_OR_RETURN(const ActivationBytes activations,
                   exact.RoutedActivationsOnRank(pipeline_rank, rows));
  return RankMemory(planned, exact).OnRank(pipeline_rank, activations);
}

std::vector<int64_t> EstimateAllocatorBytes(const EstimateContext& context, const Layout& layout) {
  return WithMemory(PlannedLayout(context, layout), [&](const RankMemory& memory) {
    return OfEachRank(layout, [&](int32_t rank) { return memory.OnRank(rank).allocator_bytes(); });
  });
}

std::vector<int64_t> EstimateHostBytes(const EstimateContext& context, const Layout& layout) {
  if (!FillsHost(context.training, layout)) return {};
  return WithMemory(PlannedLayout(context, layout), [&](const RankMemory& memory) {
    return OfEachRank(layout, [&](int32_t rank) { return memory.OnRank(rank).host_bytes; });
  });
}

std::vector<int64_t> EstimateCommunicatorBytes(const EstimateContext& context,
                                               const Layout& layout) {
  return WithMemory(PlannedLayout(context, layout), [&](const RankMemory& memory) {
    return OfEachRank(layout, [&](int32_t rank) { return memory.CommunicatorBytes(rank); });
  });
}

MemoryBounds BoundMemory(const PlannedLayout& planned) {
  return WithMemory(planned, [](const RankMemory& memory) {
    MemoryBounds bounds;
    memory.ForEachCandidate([&](int32_t rank) {
      const MemoryBounds on_rank = memory.BoundsOnRank(rank);
      bounds.least_bytes = std::max(bounds.least_bytes, on_rank.least_bytes);
      bounds.most_bytes = std::max(bounds.most_bytes, on_rank.most_bytes);
    });
    return bounds;
  });
}

int64_t BoundMemoryAgainst(const PlannedLayout& planned, int64_t allowed_bytes) {
  return WithMemory(planned, [&](const RankMemory& memory) {
    int64_t least = 0;
    absl::InlinedVector<int32_t, 8> open;  // ranks whose bounds do not decide
    memory.ForEachCandidate([&](int32_t rank) {
      const MemoryBounds bounds = memory.BoundsOnRank(rank);
      least = std::max(least, bounds.least_bytes);
      if (bounds.least_bytes <= allowed_bytes && bounds.most_bytes > allowed_bytes) {
        open.push_back(rank);
      }
    });
    for (const int32_t rank : open) {
      if (least > allowed_bytes) break;
      least = std::max(least, memory.OnRank(rank).total_bytes());
    }
    return least;
  });
}

MemoryEstimate EstimateMemory(const PlannedLayout& planned) {
  return WithMemory(planned, [](const RankMemory& memory) {
    MemoryEstimate fullest;
    memory.ForEachCandidate([&](int32_t rank) {
      const MemoryEstimate other = memory.OnRank(rank);
      if (other.total_bytes() + other.paged_bytes > fullest.total_bytes() + fullest.paged_bytes) {
        fullest = other;
      }
    });
    return fullest;
  });
}

int64_t EstimateMeasuredPeakBytes(const EstimateContext& context, const Layout& layout,
                                  PeakRank peak_rank) {
  return WithMemory(PlannedLayout(context, layout), [&](const RankMemory& memory) {
    const auto measured = [&](int32_t rank) {
      const MemoryEstimate estimate = memory.OnRank(rank);
      return estimate.allocator_bytes() + (context.profile.kept.peak_kind == PeakKind::kReserved
                                               ? estimate.fragmentation_bytes
                                               : 0);
    };
    if (peak_rank == PeakRank::kFirst) return measured(0);
    if (peak_rank == PeakRank::kLast) return measured(layout.pp - 1);
    int64_t most = 0;
    for (int32_t rank = 0; rank < layout.pp; ++rank) most = std::max(most, measured(rank));
    return most;
  });
}

}  // namespace meshwright::planner
