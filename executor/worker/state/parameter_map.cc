#include "executor/worker/state/parameter_map.h"

#include <algorithm>
#include <utility>

#include "planner/block/block.h"

namespace meshwright::worker {
namespace {

// Classes of parameters in their order within a unit. A bias that is not divided is held whole by
// all ranks. Queries of latent attention have a matrix of their own, after those that every block
// has.
enum class ParameterClass : uint8_t {
  kMatrix,
  kQueryMatrix,
  kWholeMatrix,
  kRouter,
  kRouterBias,
  kStreamNorm,
  kHeadNorm,
  kWholeBias,
  kSinks,
  kBias
};
constexpr ParameterClass kParameterClasses[] = {
    ParameterClass::kMatrix,   ParameterClass::kQueryMatrix, ParameterClass::kWholeMatrix,
    ParameterClass::kRouter,   ParameterClass::kRouterBias,  ParameterClass::kStreamNorm,
    ParameterClass::kHeadNorm, ParameterClass::kWholeBias,   ParameterClass::kSinks,
    ParameterClass::kBias};

ParameterClass ClassOf(const planner::Operator& op, const planner::OperatorParameter& parameter) {
  if (parameter.whole_gradient) return ParameterClass::kRouter;
  if (parameter.matrix) {
    if (op.name == planner::OperatorName::kLatentProjection) return ParameterClass::kWholeMatrix;
    return op.name == planner::OperatorName::kQueryProjection ? ParameterClass::kQueryMatrix
                                                              : ParameterClass::kMatrix;
  }
  if (op.name == planner::OperatorName::kRouter) return ParameterClass::kRouterBias;
  if (op.kind == planner::OperatorKind::kAttention) return ParameterClass::kSinks;
  if (op.kind != planner::OperatorKind::kNorm) {
    return parameter.division == planner::Division::kWhole ? ParameterClass::kWholeBias
                                                           : ParameterClass::kBias;
  }
  return op.name == planner::OperatorName::kHeadNorm ? ParameterClass::kHeadNorm
                                                     : ParameterClass::kStreamNorm;
}

// A norm of the stream has its weight first. Norms of latents only have weights.
bool IsBias(const planner::Operator& op, ParameterClass place, bool first) {
  return place == ParameterClass::kRouterBias || place == ParameterClass::kWholeBias ||
         place == ParameterClass::kBias ||
         (place == ParameterClass::kStreamNorm && !first &&
          op.name != planner::OperatorName::kLatentNorm);
}

// The head's product belongs to no block.
bool IsBlockProduct(const planner::Operator& op) {
  return op.kind == planner::OperatorKind::kMatmul &&
         op.name != planner::OperatorName::kHeadProjection;
}

// Sinks are initialised as in GPT-OSS.
Initial InitialOf(const LocalParameter& parameter) {
  const bool sinks = parameter.of == planner::OperatorName::kAttention;
  if (parameter.matrix || parameter.of_router || sinks) return Initial::kNormal;
  return parameter.bias ? Initial::kZeros : Initial::kOnes;
}

ParameterPart PartOf(const planner::OperatorParameter& parameter, const std::string& prefix,
                     int32_t tp_rank) {
  ParameterPart part = {.name = prefix + std::string(parameter.name),
                        .global_rows = parameter.rows,
                        .global_columns = parameter.columns,
                        .row_begin = 0,
                        .column_begin = 0,
                        .rows = parameter.rank_rows,
                        .columns = parameter.rank_columns};
  if (parameter.division == planner::Division::kRows) part.row_begin = tp_rank * part.rows;
  if (parameter.division == planner::Division::kColumns) part.column_begin = tp_rank * part.columns;
  return part;
}

// A product's matrices form one array, and so do its biases; each vector of a norm is an array.
void AddParameters(const planner::Operator& op, ParameterClass place, const std::string& prefix,
                   int32_t tp_rank, ParameterUnit& unit) {
  const bool norm = op.kind == planner::OperatorKind::kNorm;
  bool first = true;
  for (const planner::OperatorParameter& parameter : op.parameters) {
    if (parameter.experts > 0 || ClassOf(op, parameter) != place) continue;
    if (first || norm) {
      unit.push_back({.parts = {},
                      .of = op.name,
                      .matrix = parameter.matrix && place != ParameterClass::kRouter,
                      .bias = IsBias(op, place, first),
                      .replicated = parameter.division == planner::Division::kWhole,
                      .of_block_product = parameter.matrix && IsBlockProduct(op),
                      .of_router = place == ParameterClass::kRouter,
                      .partial_gradient = norm || place == ParameterClass::kRouterBias,
                      .of_heads = place == ParameterClass::kHeadNorm});
    }
    first = false;
    ParameterPart part = PartOf(parameter, prefix, tp_rank);
    part.initial = InitialOf(unit.back());
    unit.back().parts.push_back(std::move(part));
  }
}

ParameterUnit UnitOf(const planner::OperatorList& operators, const std::string& prefix,
                     int32_t tp_rank) {
  ParameterUnit unit;
  for (const ParameterClass place : kParameterClasses) {
    for (const planner::Operator& op : operators) {
      AddParameters(op, place, prefix, tp_rank, unit);
    }
  }
  return unit;
}

// Returns the part of expert `expert`.
ParameterPart PartOfExpert(const planner::OperatorParameter& parameter, const std::string& prefix,
                           int64_t expert, int32_t etp_rank) {
  planner::OperatorParameter each = parameter;
  each.rows /= parameter.experts;
  each.rank_rows /= parameter.rank_experts;
  each.division = parameter.expert_division;
  ParameterPart part = PartOf(each, prefix + "experts." + std::to_string(expert) + ".", etp_rank);
  part.initial = Initial::kNormal;
  return part;
}

// Over all of the rank's experts, a product's matrices form one array, and so do its biases.
void AddExperts(const planner::Operator& op, ParameterClass place, const std::string& prefix,
                const ExpertPlace& experts, ParameterUnit& unit) {
  const bool matrix = place == ParameterClass::kMatrix;
  LocalParameter array = {.parts = {},
                          .of = op.name,
                          .matrix = matrix,
                          .bias = !matrix,
                          .replicated = place == ParameterClass::kWholeBias,
                          .of_block_product = matrix,
                          .of_experts = true};
  std::vector<const planner::OperatorParameter*> parameters;
  for (const planner::OperatorParameter& parameter : op.parameters) {
    const bool whole = !parameter.matrix && parameter.expert_division == planner::Division::kWhole;
    const ParameterClass own = parameter.matrix ? ParameterClass::kMatrix
                               : whole          ? ParameterClass::kWholeBias
                                                : ParameterClass::kBias;
    if (parameter.experts > 0 && own == place) parameters.push_back(&parameter);
  }
  if (parameters.empty()) return;
  const int64_t rank_experts = parameters.front()->rank_experts;
  for (int64_t index = 0; index < rank_experts; ++index) {
    for (const planner::OperatorParameter* parameter : parameters) {
      array.parts.push_back(PartOfExpert(*parameter, prefix, experts.ep_rank * rank_experts + index,
                                         experts.etp_rank));
    }
  }
  unit.push_back(std::move(array));
}

planner::BlockShape ShapeOf(const planner::ModelSpec& model, const planner::LayerGroup& group,
                            int32_t tp) {
  planner::BlockShape shape = planner::WholeShape(model, group, /*keys=*/1);
  shape.tp = tp;
  return shape;
}

// Returns the head's projection or its final norm, which are separate units.
planner::OperatorList HeadPart(const planner::ModelSpec& model, planner::OperatorName name,
                               int32_t tp) {
  planner::OperatorList part;
  for (const planner::Operator& op :
       planner::HeadOperators(ShapeOf(model, model.groups.front(), tp))) {
    if (op.name == name) part.push_back(op);
  }
  return part;
}

}  // namespace

int64_t LocalParameter::rows() const {
  int64_t rows = 0;
  for (const ParameterPart& part : parts) rows += part.rows;
  return rows;
}

ParameterUnit LayerUnit(const planner::ModelSpec& model, int64_t layer, int32_t tp_rank,
                        int32_t tp) {
  return UnitOf(planner::BlockOperators(ShapeOf(model, model.GroupOf(layer), tp)),
                "layers." + std::to_string(layer) + ".", tp_rank);
}

ParameterUnit ExpertUnit(const planner::ModelSpec& model, int64_t layer, const ExpertPlace& place) {
  planner::BlockShape shape = planner::WholeShape(model, model.GroupOf(layer), /*keys=*/1);
  shape.ep = place.ep;
  shape.etp = place.etp;
  const planner::OperatorList operators = planner::BlockOperators(shape);
  ParameterUnit unit;
  for (const ParameterClass kind : kParameterClasses) {
    for (const planner::Operator& op : operators) {
      AddExperts(op, kind, "layers." + std::to_string(layer) + ".", place, unit);
    }
  }
  return unit;
}

ParameterUnit EmbeddingUnit(const planner::ModelSpec& model, int32_t tp_rank, int32_t tp) {
  return UnitOf(planner::EmbeddingOperators(ShapeOf(model, model.groups.front(), tp)), "", tp_rank);
}

ParameterUnit HeadUnit(const planner::ModelSpec& model, int32_t tp_rank, int32_t tp) {
  return UnitOf(HeadPart(model, planner::OperatorName::kHeadProjection, tp), "", tp_rank);
}

ParameterUnit FinalNormUnit(const planner::ModelSpec& model) {
  return UnitOf(HeadPart(model, planner::OperatorName::kFinalNorm, 1), "", 0);
}

VectorPositions VectorsOf(const ParameterUnit& unit, planner::OperatorName of) {
  VectorPositions positions;
  for (size_t i = unit.size(); i-- > 0;) {
    if (unit[i].of != of || unit[i].matrix) continue;
    (unit[i].bias ? positions.bias : positions.weight) = i;
  }
  return positions;
}

size_t MatrixOf(const ParameterUnit& unit, planner::OperatorName of) {
  for (size_t i = 0; i < unit.size(); ++i) {
    if (unit[i].of == of && unit[i].matrix) return i;
  }
  return kNowhere;
}

namespace {

template <typename Counts>
int64_t Elements(const ParameterUnit& unit, const Counts& counts) {
  int64_t elements = 0;
  for (const LocalParameter& parameter : unit) {
    if (counts(parameter)) elements += parameter.elements();
  }
  return elements;
}

}  // namespace

int64_t UnitElements(const ParameterUnit& unit) {
  return Elements(unit, [](const LocalParameter&) { return true; });
}

int64_t MatrixElements(const ParameterUnit& unit) {
  return Elements(unit, [](const LocalParameter& parameter) { return parameter.matrix; });
}

int64_t BlockMatrixElements(const ParameterUnit& unit) {
  return Elements(unit, [](const LocalParameter& parameter) { return parameter.of_block_product; });
}

int64_t WholeMatrixElements(const ParameterUnit& unit) {
  return Elements(unit, [](const LocalParameter& parameter) {
    return parameter.matrix && parameter.replicated;
  });
}

int64_t ReplicatedElements(const ParameterUnit& unit) {
  return Elements(unit, [](const LocalParameter& parameter) {
    return parameter.replicated && !parameter.matrix;
  });
}

int64_t RouterElements(const ParameterUnit& unit) {
  return Elements(unit, [](const LocalParameter& parameter) { return parameter.of_router; });
}

int64_t PartialElements(const ParameterUnit& unit) {
  return Elements(unit, [](const LocalParameter& parameter) { return parameter.partial_gradient; });
}

int64_t HeadNormElements(const ParameterUnit& unit) {
  return Elements(unit, [](const LocalParameter& parameter) { return parameter.of_heads; });
}

}  // namespace meshwright::worker
