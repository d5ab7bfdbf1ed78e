// Rules about how a layout divides experts. Each function returns whether the layout breaks its
// rule (planner/rules/rule.h).
#pragma once

#include "planner/layout/mesh.h"
#include "planner/rules/operands.h"
#include "planner/rules/rule.h"

namespace meshwright::planner {

inline bool DividesMissingExperts(const RuleInput& input, const Layout& layout,
                                  Operands& operands) {
  if (!layout.divides_experts() || input.model.has_experts()) return false;
  return Broken(layout.ep, layout.etp, operands);
}

inline bool ExpertsDoNotDivide(const RuleInput& input, const Layout& layout, Operands& operands) {
  if (layout.ep == 1) return false;
  return AnyGroup(input, [&](const LayerGroup& group) {
    return group.ffn.has_experts() && DoesNotDivide(group.ffn.experts.count, layout.ep, operands);
  });
}

inline bool ExpertWidthDoesNotDivide(const RuleInput& input, const Layout& layout,
                                     Operands& operands) {
  if (layout.etp == 1) return false;
  return AnyGroup(input, [&](const LayerGroup& group) {
    return group.ffn.has_experts() && DoesNotDivide(group.ffn.hidden, layout.etp, operands);
  });
}

inline bool ExpertMeshDoesNotFit(const RuleInput& input, const Layout& layout, Operands& operands) {
  if (!layout.divides_experts()) return false;
  if (DoesNotDivide(StageRanks(layout), int64_t{layout.ep} * layout.etp, operands)) return true;
  if (Mesh(layout, input.profile.communication.mesh_order).expert_groups()) return false;
  return Broken(StageRanks(layout), int64_t{layout.ep} * layout.etp, operands);
}

// Without sequence parallelism all tp ranks would route the same tokens.
inline bool ExpertsLackSequenceParallel(const RuleInput& input, const Layout& layout,
                                        Operands& operands) {
  if (layout.tp == 1 || layout.sequence_parallel || !input.model.has_experts()) return false;
  return Broken(layout.tp, 0, operands);
}

// Each HSDP group holds all experts once. Meshwright's worker can divide the states of experts only
// among all ranks, so it runs no such layout.
inline bool ExpertsUnderHsdp(const RuleInput& input, const Layout& layout, Operands& operands) {
  if (layout.shard_ranks == 0 || !input.model.has_experts()) return false;
  const int64_t ranks = int64_t{layout.shard_ranks} * layout.tp;
  const int64_t divided = int64_t{layout.ep} * layout.etp;
  if (input.profile.engine == Engine::kWorker) return Broken(ranks, divided, operands);
  if (DoesNotDivide(ranks, divided, operands)) return true;
  const Mesh mesh(layout, input.profile.communication.mesh_order);
  // Rule::kExpertMesh reports ranks that can't be divided into groups of experts.
  if (!mesh.expert_groups() || mesh.ExpertShardGroupsOf(ranks / divided)) return false;
  return Broken(ranks, divided, operands);
}

}  // namespace meshwright::planner
