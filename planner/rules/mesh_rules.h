// Rules about how a layout divides devices, model, sequence and global batch. Each function returns
// whether the layout breaks its rule (planner/rules/rule.h).
#pragma once

#include <algorithm>
#include <string>

#include "planner/block/stage_partition.h"
#include "planner/layout/mesh.h"
#include "planner/rules/operands.h"
#include "planner/rules/rule.h"
#include "planner/schedule/schedule_needs.h"

namespace meshwright::planner {

inline bool DevicesDiffer(const RuleInput& input, const Layout& layout, Operands& operands) {
  if (layout.devices() == input.devices) return false;
  return Broken(layout.devices(), input.devices, operands);
}

// The problem with the stages that a layout names. It is stored in Operands::value.
enum class StagesProblem : int64_t { kCount, kLayers, kEmptyStage };

inline bool StagesDoNotFit(const RuleInput& input, const Layout& layout, Operands& operands) {
  const StageSplit& split = layout.stages;
  if (split.empty()) return false;
  const auto problem = [&operands](StagesProblem what, int64_t is, int64_t must_be) {
    operands = {.value = static_cast<int64_t>(what), .divisor = must_be, .more = {is}};
    return true;
  };
  const int64_t stages = int64_t{layout.pp} * layout.vpp;
  if (split.stages() != stages) return problem(StagesProblem::kCount, split.stages(), stages);
  if (split.layers() != input.shapes.layers()) {
    return problem(StagesProblem::kLayers, split.layers(), input.shapes.layers());
  }
  for (int64_t stage = 1; stage + 1 < stages; ++stage) {
    if (split.LayersOf(stage) == 0) return problem(StagesProblem::kEmptyStage, stage, 0);
  }
  return false;
}

// Returns a sentence that says which stages a layout names and which it needs.
std::string DescribeStages(const Operands& operands);

inline bool LayersDoNotDivide(const RuleInput& input, const Layout& layout, Operands& operands) {
  if (!layout.stages.empty()) return false;
  if (CanPartition(input.shapes.layers(), layout, input.profile.supports.stage_partition))
    return false;
  return Broken(input.shapes.layers(), int64_t{layout.pp} * layout.vpp, operands);
}

inline bool HeadsDoNotDivide(const RuleInput& input, const Layout& layout, Operands& operands) {
  return AnyGroup(input, [&](const LayerGroup& group) {
    return DoesNotDivide(group.attention.heads, layout.tp, operands);
  });
}

// A framework may replicate key/value heads if tp is a multiple of their number.
inline bool KvHeadsDoNotDivide(const RuleInput& input, const Layout& layout, Operands& operands) {
  return AnyGroup(input, [&](const LayerGroup& group) {
    const int64_t kv_heads = group.attention.kv_heads;
    if (!group.attention.exists()) return false;
    if (input.profile.supports.kv_replication && layout.tp % kv_heads == 0) return false;
    return DoesNotDivide(kv_heads, layout.tp, operands);
  });
}

inline bool FfnDoesNotDivide(const RuleInput& input, const Layout& layout, Operands& operands) {
  return AnyGroup(input, [&](const LayerGroup& group) {
    return DoesNotDivide(group.ffn.dense_hidden(), layout.tp, operands);
  });
}

inline bool VocabDoesNotDivide(const RuleInput& input, const Layout& layout, Operands& operands) {
  if (input.profile.supports.vocab_multiple != 0) return false;
  const int64_t ranks = DividesVocabulary(layout.schedule) ? layout.pp : 1;
  return DoesNotDivide(input.model.vocab, layout.tp * ranks, operands);
}

// To balance causal attention, each context-parallel rank gets one early and one late piece of the
// sequence.
inline bool ContextDoesNotDivide(const RuleInput& input, const Layout& layout, Operands& operands) {
  if (layout.cp == 1) return false;
  return DoesNotDivide(input.training.seq_len, 2 * int64_t{layout.cp}, operands);
}

inline bool SequenceParallelLacksTp(const RuleInput& /*input*/, const Layout& layout,
                                    Operands& operands) {
  if (!layout.sequence_parallel || layout.tp > 1) return false;
  return Broken(layout.tp, 0, operands);
}

inline bool SequenceDoesNotDivide(const RuleInput& input, const Layout& layout,
                                  Operands& operands) {
  if (!layout.sequence_parallel) return false;
  return DoesNotDivide(input.training.seq_len, int64_t{layout.tp} * layout.cp, operands);
}

inline bool ChunksDoNotFit(const RuleInput& /*input*/, const Layout& layout, Operands& operands) {
  if (ChunksFit(NeedsOf(layout.schedule), layout)) return false;
  return Broken(layout.vpp, layout.pp, operands);
}

inline bool RecomputesMoreThanAChunk(const RuleInput& input, const Layout& layout,
                                     Operands& operands) {
  if (layout.recompute != Recompute::kBlock) return false;
  int64_t layers = 0;
  for (int32_t stage = 0; stage < layout.pp * layout.vpp; ++stage) {
    const StageLayers held =
        StageOf(input.model, layout, input.profile.supports.stage_partition, stage);
    layers = std::max(layers, held.layer_count);
  }
  if (layout.recompute_layers <= layers) return false;
  return Broken(layout.recompute_layers, layers, operands);
}

inline bool ZeroLacksRanks(const RuleInput& /*input*/, const Layout& layout, Operands& operands) {
  if (layout.zero == 0 || GroupSize(GroupRole::kReplicas, layout) > 1) return false;
  return Broken(layout.zero, 0, operands);
}

inline bool HsdpLacksZero(const RuleInput& /*input*/, const Layout& layout, Operands& operands) {
  if (layout.shard_ranks == 0 || layout.zero > 0) return false;
  return Broken(layout.shard_ranks, 0, operands);
}

inline bool ReplicasDoNotDivide(const RuleInput& input, const Layout& layout, Operands& operands) {
  if (layout.shard_ranks == 0) return false;
  const Mesh mesh(layout, input.profile.communication.mesh_order);
  if (mesh.ShardGroupsOf(layout.shard_ranks)) return false;
  return Broken(GroupSize(GroupRole::kReplicas, layout), layout.shard_ranks, operands);
}

// The rules below concern the global batch. These rules are checked last, because a layout that
// breaks only them could run with another batch.

inline bool BatchDoesNotDivide(const RuleInput& input, const Layout& layout, Operands& operands) {
  return DoesNotDivide(input.training.global_batch, int64_t{layout.dp} * layout.micro_batch,
                       operands);
}

// REQUIRES (also in the next rule): BatchDoesNotDivide() is false.
inline bool TooFewMicroBatches(const RuleInput& input, const Layout& layout, Operands& operands) {
  const int64_t least = LeastMicroBatches(NeedsOf(layout.schedule), layout.pp);
  if (least == 0) return false;
  const int64_t micro_batches = layout.MicroBatches(input.training.global_batch);
  return micro_batches < least && Broken(micro_batches, least, operands);
}

inline bool RoundsAreNotWhole(const RuleInput& input, const Layout& layout, Operands& operands) {
  if (!NeedsOf(layout.schedule).whole_rounds) return false;
  return DoesNotDivide(layout.MicroBatches(input.training.global_batch), layout.pp, operands);
}

}  // namespace meshwright::planner
