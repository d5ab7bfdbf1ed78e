#include "planner/rules/offload_rules.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "base/text/amounts.h"
#include "planner/block/stage_partition.h"
#include "planner/memory/rank_memory.h"

namespace meshwright::planner {
namespace {

const char* KeyOf(HostFigure figure) {
  switch (figure) {
    case HostFigure::kLink:
      return "host.link_bytes_per_s";
    case HostFigure::kMemory:
      return "host.memory_bytes";
    case HostFigure::kMemoryRate:
      break;
  }
  return "host.memory_bytes_per_s";
}

}  // namespace

bool OffloadsMoreThanAChunk(const RuleInput& input, const Layout& layout, Operands& operands) {
  if (layout.offload.activation_layers == 0) return false;
  int64_t layers = 0;
  for (int32_t stage = 0; stage < layout.pp * layout.vpp; ++stage) {
    layers = std::max(
        layers,
        StageOf(input.model, layout, input.profile.supports.stage_partition, stage).layer_count);
  }
  return layout.offload.activation_layers > layers &&
         Broken(layout.offload.activation_layers, layers, operands);
}

std::string DescribeHostFigures(const Operands& operands) {
  const auto figure = static_cast<HostFigure>(operands.value);
  const char* needs = operands.divisor == 0 ? "offload= needs" : "a paged optimizer needs";
  return absl::StrCat(needs, " the cluster's ", KeyOf(figure),
                      ", which is not given; must be what the data sheet of its nodes says",
                      figure == HostFigure::kMemory ? ", such as --cluster NAME,ram=512GB" : "");
}

bool OverfillsHost(const RuleInput& input, const Layout& layout, Operands& operands) {
  if (!FillsHost(input.training, layout) || input.cluster == nullptr) return false;
  const EstimateContext context{input.model,
                                *input.cluster,
                                input.training,
                                input.profile,
                                /*ranks_run_alone=*/false,
                                input.shapes};
  const int64_t node_bytes = HostBytesOfNode(PlannedLayout(context, layout));
  const int64_t memory_bytes = input.cluster->host.memory_bytes;
  return node_bytes > memory_bytes && Broken(node_bytes, memory_bytes, operands);
}

std::string DescribeHostMemory(const Operands& operands) {
  return absl::StrCat("the devices of a node move ", Gib(operands.value),
                      " to their host, whose memory is ", Gib(operands.divisor));
}

}  // namespace meshwright::planner
