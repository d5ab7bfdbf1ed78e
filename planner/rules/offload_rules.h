// Rules about what a layout moves to the hosts' memory (Layout::offload). Each function returns
// whether the layout breaks its rule (planner/rules/rule.h).
#pragma once

#include <string>

#include "planner/rules/operands.h"
#include "planner/rules/rule.h"

namespace meshwright::planner {

// A figure of the host that a cluster may leave out; the value of the rule's operands.
enum class HostFigure : int64_t { kLink, kMemory, kMemoryRate };

// Copies need the link and the memory; an update on the host also needs the memory's rate.
inline bool LacksHostFigures(const RuleInput& input, const Layout& layout, Operands& operands) {
  if (!layout.offload.any() || input.cluster == nullptr) return false;
  const HostProfile& host = input.cluster->host;
  const auto lacks = [&operands](HostFigure figure) {
    return Broken(static_cast<int64_t>(figure), 0, operands);
  };
  if (host.link_bytes_per_s <= 0.0) return lacks(HostFigure::kLink);
  if (host.memory_bytes <= 0) return lacks(HostFigure::kMemory);
  return layout.offload.optimizer && host.memory_bytes_per_s <= 0.0 &&
         lacks(HostFigure::kMemoryRate);
}

// Returns a sentence that names the missing key of a cluster.
std::string DescribeHostFigures(const Operands& operands);

// Checks the fullest chunk; chunks with fewer layers offload all of theirs.
bool OffloadsMoreThanAChunk(const RuleInput& input, const Layout& layout, Operands& operands);

inline bool OffloadsRecomputed(const RuleInput& /*input*/, const Layout& layout,
                               Operands& operands) {
  if (layout.offload.activation_layers == 0) return false;
  const bool keeps_input_alone =
      layout.recompute == Recompute::kFull || layout.recompute == Recompute::kBlock;
  return keeps_input_alone && Broken(layout.offload.activation_layers, 0, operands);
}

inline bool OffloadsOrthogonalised(const RuleInput& input, const Layout& layout,
                                   Operands& operands) {
  return layout.offload.optimizer && input.training.optimizer.orthogonalises() &&
         Broken(1, 0, operands);
}

// Returns whether the devices of a node move more to their host than its memory holds. Requires a
// layout that keeps all other rules. Computes its memory where the layout moves anything.
bool OverfillsHost(const RuleInput& input, const Layout& layout, Operands& operands);

// Returns a sentence with both sizes.
std::string DescribeHostMemory(const Operands& operands);

}  // namespace meshwright::planner
