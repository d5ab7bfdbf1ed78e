// Rules about layouts that can run, but that a simpler layout beats in memory and in time. Searches
// drop them.
#pragma once

#include "planner/profile/layer_shape.h"
#include "planner/rules/operands.h"
#include "planner/rules/rule.h"

namespace meshwright::planner {

// Selective recompute of attention exists to avoid keeping the score matrix. Where no kernel keeps
// one it frees nothing and costs time.
inline bool IsDominated(const RuleInput& input, const Layout& layout, Operands& operands) {
  if (!input.drops_dominated || layout.recompute != Recompute::kSelective) return false;
  const bool only_scores =
      input.profile.kept.selective_recompute == SelectiveRecompute::kCoreAttention;
  return only_scores && !KeepsScores(input.profile, layout) && Broken(0, 0, operands);
}

}  // namespace meshwright::planner
