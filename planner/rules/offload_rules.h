// Rules about what a layout moves to the hosts' memory (Layout::offload). Each function returns
// whether the layout breaks its rule (planner/rules/rule.h).
#pragma once

#include <string>

#include "planner/memory/host_use.h"
#include "planner/rules/operands.h"
#include "planner/rules/rule.h"

namespace meshwright::planner {

// A figure of the host that a cluster may leave out. It is stored in Operands::value;
// Operands::divisor is 1 if only the optimizer's paging needs it.
enum class HostFigure : int64_t { kLink, kMemory, kMemoryRate };

// Every offload needs the rate of the link between device and host and the size of the host's
// memory. An optimizer update on the host also needs the rate of the host's memory.
inline bool LacksHostFigures(const RuleInput& input, const Layout& layout, Operands& operands) {
  if (!FillsHost(input.training, layout) || input.cluster == nullptr) return false;
  const HostProfile& host = input.cluster->host;
  const int64_t is_paging = layout.offload.any() ? 0 : 1;
  const auto lacks = [&](HostFigure figure) {
    return Broken(static_cast<int64_t>(figure), is_paging, operands);
  };
  if (host.link_bytes_per_s <= 0.0) return lacks(HostFigure::kLink);
  if (host.memory_bytes <= 0) return lacks(HostFigure::kMemory);
  return layout.offload.optimizer && host.memory_bytes_per_s <= 0.0 &&
         lacks(HostFigure::kMemoryRate);
}

// Returns a sentence that names the missing key of a cluster.
std::string DescribeHostFigures(const Operands& operands);

// Returns whether the layout offloads the activations of more layers than the largest chunk has. A
// chunk with fewer layers offloads all of its layers.
bool OffloadsMoreThanAChunk(const RuleInput& input, const Layout& layout, Operands& operands);

// offload=act:N moves the activations of the first N layers of each chunk. If these layers are
// recomputed, as under rc=block:N, they keep only their inputs, so there is nothing else to move.
inline bool OffloadsRecomputed(const RuleInput& input, const Layout& layout, Operands& operands) {
  if (layout.offload.activation_layers == 0) return false;
  const bool stays =
      layout.recompute == Recompute::kBlock ||
      (layout.recompute == Recompute::kFull && !input.profile.supports.offloads_layer_inputs);
  return stays && Broken(layout.offload.activation_layers, 0, operands);
}

// Only ZeRO-3 gathers weights before each layer, so only then may the shards be in the host's
// memory.
inline bool OffloadsWholeWeights(const RuleInput&, const Layout& layout, Operands& operands) {
  return layout.offload.parameters && layout.zero < 3 && Broken(layout.zero, 3, operands);
}

inline bool OffloadsOrthogonalised(const RuleInput& input, const Layout& layout,
                                   Operands& operands) {
  return layout.offload.optimizer && input.training.optimizer.orthogonalises() &&
         Broken(1, 0, operands);
}

// Returns whether the devices of a node move more bytes to their host than its memory holds. The
// function estimates the layout's memory unless the layout moves nothing.
// REQUIRES: the layout keeps all rules that come before this one in the list.
bool OverfillsHost(const RuleInput& input, const Layout& layout, Operands& operands);

// Returns a sentence with the bytes that the devices move and the size of the host's memory.
std::string DescribeHostMemory(const Operands& operands);

}  // namespace meshwright::planner
