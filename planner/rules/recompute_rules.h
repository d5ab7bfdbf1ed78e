// Rules about what a layout recomputes (planner/layout/recompute.h). Each function returns whether
// the layout breaks its rule (planner/rules/rule.h).
#pragma once

#include <string>

#include "planner/profile/layer_shape.h"
#include "planner/rules/operands.h"
#include "planner/rules/rule.h"

namespace meshwright::planner {

// Returns the modules whose recompute frees memory in at least one layer of the model.
RecomputeModules RecomputeModulesOf(const ModelSpec& model);

inline bool RecomputesMissingModules(const RuleInput& input, const Layout& layout,
                                     Operands& operands) {
  if (layout.recompute != Recompute::kModules) return false;
  const RecomputeModules there = RecomputeModulesOf(input.model);
  const RecomputeModules missing = layout.recompute_modules.Without(there);
  return !missing.empty() && Broken(missing.bits(), there.bits(), operands);
}

// `moe` recomputes what `moe_act` and `shared_experts` would.
inline bool RecomputesTwice(const RuleInput& /*input*/, const Layout& layout, Operands& operands) {
  if (!layout.recompute_modules.Has(RecomputeModule::kMoe)) return false;
  constexpr RecomputeModules kParts = {RecomputeModule::kMoeAct, RecomputeModule::kSharedExperts};
  const RecomputeModules twice = layout.recompute_modules.And(kParts);
  return !twice.empty() && Broken(twice.bits(), 0, operands);
}

// With delayed scaling, a forward pass takes scales from the previous step and may run only once.
// Megatron-Core's TransformerConfig therefore rejects the modules whose recompute frees only their
// output.
inline bool RecomputesUnderDelayedScales(const RuleInput& input, const Layout& layout,
                                         Operands& operands) {
  if (input.training.precision != Precision::kFp8Delayed) return false;
  constexpr RecomputeModules kFreed = {RecomputeModule::kLayerNorm, RecomputeModule::kMoeAct};
  const RecomputeModules freed = layout.recompute_modules.And(kFreed);
  return !freed.empty() && Broken(freed.bits(), 0, operands);
}

// Returns whether a simpler layout takes no more memory and is faster. Searches drop a layout for
// which this holds, although it can run. Selective recompute of attention exists to avoid keeping
// the score matrix. If the attention kernel keeps no scores, selective recompute frees nothing and
// costs time.
inline bool IsDominated(const RuleInput& input, const Layout& layout, Operands& operands) {
  if (!input.drops_dominated || layout.recompute != Recompute::kSelective) return false;
  const bool only_scores =
      input.profile.kept.selective_recompute == SelectiveRecompute::kCoreAttention;
  return only_scores && !KeepsScores(input.profile, layout) && Broken(0, 0, operands);
}

// Each of these functions returns a sentence with the modules' names.
std::string DescribeMissingModules(const Operands& operands);
std::string DescribeTwice(const Operands& operands);
std::string DescribeDelayedScales(const Operands& operands);

}  // namespace meshwright::planner
