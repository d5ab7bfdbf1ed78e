// Rules about recurrences and about layers that share keys or weights: whether ranks can divide a
// recurrence, and on which stages the sharing layers may be. Each function returns whether the
// layout breaks its rule (planner/rules/rule.h).
#pragma once

#include <algorithm>

#include "planner/block/stage_partition.h"
#include "planner/rules/operands.h"
#include "planner/rules/rule.h"

namespace meshwright::planner {

// Tensor parallelism divides the heads of a recurrence, and context parallelism divides the heads
// of each TP rank once more. If a TP rank has fewer Mamba-2 groups than cp, several CP ranks hold
// the same group (Megatron-LM, core/ssm/mamba_context_parallel.py).
inline bool RecurrenceDoesNotDivide(const RuleInput& input, const Layout& layout,
                                    Operands& operands) {
  const int64_t ranks = int64_t{layout.tp} * layout.cp;
  return AnyGroup(input, [&](const LayerGroup& group) {
    const Recurrence& recurrence = group.recurrence;
    if (!recurrence.exists()) return false;
    if (DoesNotDivide(recurrence.heads, ranks, operands)) return true;
    if (recurrence.key_heads == 0) return false;
    if (recurrence.kind != RecurrenceKind::kMamba2) {
      return DoesNotDivide(recurrence.key_heads, ranks, operands);
    }
    if (DoesNotDivide(recurrence.key_heads, layout.tp, operands)) return true;
    const int64_t groups = recurrence.key_heads / layout.tp;
    return groups % layout.cp != 0 && layout.cp % groups != 0 &&
           Broken(recurrence.key_heads, ranks, operands);
  });
}

// Returns the index of the first layer whose keys later layers share, or model.layers() if there is
// none. Layers with a window share the keys of the last layer that has a window and its own keys.
// Layers without a window share the keys of the last layer without a window that has its own keys.
inline int64_t FirstOwnerOfSharedKeys(const ModelSpec& model) {
  int64_t first = model.layers();
  int64_t last_of[2] = {0, 0};
  int64_t layer = 0;
  for (const LayerGroup& group : model.groups) {
    const bool local = group.attention.window > 0;
    layer += group.count;
    if (group.attention.shares_keys) {
      first = std::min(first, last_of[local ? 1 : 0]);
    } else {
      last_of[local ? 1 : 0] = layer - 1;
    }
  }
  return first;
}

// Neither the embedding nor weights are sent between stages, so only the first stage can hold
// layers that run a shared block.
inline bool SharedBlocksCrossStages(const RuleInput& input, const Layout& layout,
                                    Operands& operands) {
  const auto runs = [](const LayerGroup& group) { return group.shared_block.runs; };
  if (layout.pp == 1 || !AnyGroup(input, runs)) return false;
  for (int32_t stage = 1; stage < layout.pp * layout.vpp; ++stage) {
    const StageLayers held =
        StageOf(input.model, layout, input.profile.supports.stage_partition, stage);
    for (int64_t i = 0; i < held.layer_count; ++i) {
      const int64_t layer = held.first_layer + i;
      if (runs(input.model.GroupOf(layer))) return Broken(layer, stage, operands);
    }
  }
  return false;
}

inline bool SharesKeys(const LayerGroup& group) { return group.attention.shares_keys; }

// Keys are not sent between stages, so a stage with a layer that shares keys must also hold the
// layer that owns these keys.
inline bool SharedKeysCrossStages(const RuleInput& input, const Layout& layout,
                                  Operands& operands) {
  if (layout.pp == 1 || !AnyGroup(input, SharesKeys)) return false;
  const int64_t owner = FirstOwnerOfSharedKeys(input.model);
  for (int32_t stage = 0; stage < layout.pp * layout.vpp; ++stage) {
    const StageLayers held =
        StageOf(input.model, layout, input.profile.supports.stage_partition, stage);
    for (int64_t i = 0; i < held.layer_count; ++i) {
      const int64_t layer = held.first_layer + i;
      if (!input.model.GroupOf(layer).attention.shares_keys || held.first_layer <= owner) continue;
      return Broken(layer, owner, operands);
    }
  }
  return false;
}

}  // namespace meshwright::planner
