// Rules about layers other than attention with an FFN: how a layout divides a recurrence, and where
// layers stand that share keys. Each function returns whether the layout breaks its rule
// (planner/rules/rule.h).
#pragma once

#include <algorithm>

#include "planner/block/stage_partition.h"
#include "planner/rules/operands.h"
#include "planner/rules/rule.h"

namespace meshwright::planner {

// Tensor parallelism divides the heads of a recurrence, and context parallelism divides those of a
// rank once more. Mamba-2's groups may be fewer than cp ranks, which then repeat them (Megatron-LM,
// core/ssm/mamba_context_parallel.py).
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

// Returns the first of the layers whose keys later layers share; layers() if none do. Layers with a
// window share those of the last layer with one, and the others those of the last without.
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

inline bool SharesKeys(const LayerGroup& group) { return group.attention.shares_keys; }

// Keys do not travel between stages, so a stage that has a layer with shared keys has their owner.
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
