#include "planner/block/matrices.h"

namespace meshwright::planner {

UnitMatrices MatricesOf(const OperatorList& operators) {
  UnitMatrices matrices;
  for (const Operator& op : operators) {
    if (op.kind != OperatorKind::kMatmul) continue;
    for (const OperatorParameter& parameter : op.parameters) {
      if (!parameter.matrix || !parameter.trained || parameter.borrowed) continue;
      const bool of_experts = parameter.reduced_over == GroupRole::kExpertReplicas;
      matrices.list.push_back(
          {.rows = of_experts ? parameter.rows / parameter.experts : parameter.rows,
           .columns = parameter.columns,
           .count = of_experts ? parameter.rank_experts : 1,
           .rank_elements = parameter.rank_elements(),
           .of_experts = of_experts});
      matrices.elements.all += parameter.rank_elements();
      if (of_experts) matrices.elements.experts += parameter.rank_elements();
    }
  }
  return matrices;
}

}  // namespace meshwright::planner
