#include "planner/rules/mesh_rules.h"

#include "absl/strings/str_format.h"

namespace meshwright::planner {

std::string DescribeStages(const Operands& operands) {
  const int64_t is = operands.more[0];
  switch (static_cast<StagesProblem>(operands.value)) {
    case StagesProblem::kCount:
      return absl::StrFormat("stages= names %d stages, but pp * vpp is %d", is, operands.divisor);
    case StagesProblem::kLayers:
      return absl::StrFormat("stages= holds %d layers, but the model has %d", is, operands.divisor);
    case StagesProblem::kEmptyStage:
      break;
  }
  return absl::StrFormat(
      "stages= leaves stage %d without layers; only the first, which has the embedding, and the "
      "last, which has the head, may be without",
      is);
}

}  // namespace meshwright::planner
