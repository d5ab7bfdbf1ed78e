#include "planner/block/trained_operators.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "planner/containers/enum_set.h"

namespace meshwright::planner {
namespace {

constexpr auto kForward = static_cast<size_t>(PassKind::kForward);
constexpr auto kInputGradient = static_cast<size_t>(PassKind::kInputGradient);
constexpr auto kWeightGradient = static_cast<size_t>(PassKind::kWeightGradient);

// Traffic in bytes per element of 2 bytes: two read and their sum written.
constexpr double kAdd = 6.0;
// A weight of 4 bits read, and written in the products' format.
constexpr double kWiden = 2.5;
// DoRA's norms read the matrix and the adapter's product, and write the sum.
constexpr double kNormOfSum = 6.0;
// Tensors as wide as the product's result that DoRA keeps: that result, and the adapter's.
constexpr int64_t kKeptForMagnitudes = 2;

// Products of parameters that are no linear layers: an adapter is never put on them.
const EnumSet<OperatorName> kNotLinear = {OperatorName::kRouter, OperatorName::kAttentionStreams,
                                          OperatorName::kFfnStreams};
const EnumSet<OperatorName> kIndexers = {OperatorName::kIndexQuery, OperatorName::kIndexKey};

constexpr std::array<std::pair<std::string_view, AdapterTarget>, 7> kTargets = {{
    {"q", AdapterTarget::kQuery},
    {"k", AdapterTarget::kKey},
    {"v", AdapterTarget::kValue},
    {"o", AdapterTarget::kOutput},
    {"gate", AdapterTarget::kGate},
    {"up", AdapterTarget::kUp},
    {"down", AdapterTarget::kDown},
}};

bool IsLinear(const Operator& op) {
  return op.kind == OperatorKind::kMatmul && !kNotLinear.Has(op.name);
}

bool IsAdapted(const Adapter& adapter, const Operator& op, const OperatorParameter& parameter) {
  if (!IsLinear(op) || kIndexers.Has(op.name) || !parameter.matrix) return false;
  if (parameter.experts > 0) return adapter.targets.Has(AdapterTarget::kExperts);
  for (const auto& [name, target] : kTargets) {
    if (name == parameter.name) return adapter.targets.Has(target);
  }
  return adapter.targets.Has(AdapterTarget::kOtherLinear);
}

// Returns the products that read a tensor which `op` saves.
EnumSet<OperatorName> ReadersOf(const BlockShape& shape, KeptTensor tensor, const Operator& op) {
  if (tensor == KeptTensor::kAttentionNormOutput) {
    EnumSet<OperatorName> readers = {OperatorName::kLatentProjection,
                                     OperatorName::kAttentionGateProjection,
                                     OperatorName::kMixerProjection};
    if (!shape.is_latent()) readers.Add(OperatorName::kQkvProjection);
    if (shape.query_rank == 0) readers.Add(OperatorName::kQueryProjection);
    if (shape.arrangement == Arrangement::kParallelOneNorm) {
      readers.Add(OperatorName::kGateUpProjection);
    }
    return readers;
  }
  if (tensor == KeptTensor::kFfnNormOutput) {
    return {OperatorName::kRouter, OperatorName::kExpertLatentProjection,
            OperatorName::kGateUpProjection};
  }
  return {op.name};
}

// Returns whether a product keeps the tensor for gradients of weights alone.
bool IsInputOfProduct(const BlockShape& shape, const Operator& op, const SavedTensor& saved) {
  if (saved.freed_by != op.name || saved.freed_in != PassKind::kWeightGradient) return false;
  switch (saved.tensor) {
    case KeptTensor::kRouterScores:
    case KeptTensor::kLayerInput:
    case KeptTensor::kAttentionResidual:  // the block's input, with which recompute begins
      return false;
    case KeptTensor::kAttentionOutput:
      return shape.score_bytes > 0.0;  // flash kernels read it in their backward
    case KeptTensor::kFfnProduct:
    case KeptTensor::kExpertProduct:
      return shape.ffn != FfnKind::kRelu;  // the activation's backward reads it
    default:
      return true;
  }
}

void RemovePass(Operator& op, size_t pass) {
  op.stream.traffic_bytes[pass] = 0.0;
  op.passes[pass] = {};
}

// `adapted` are the products that have adapters.
void RemoveInputs(const BlockShape& shape, const EnumSet<OperatorName>& adapted, Operator& op) {
  op.saves.RemoveIf([&](const SavedTensor& saved) {
    return IsInputOfProduct(shape, op, saved) &&
           ReadersOf(shape, saved.tensor, op).And(adapted).empty();
  });
  if (adapted.Has(op.name)) return;
  // The narrowed copy beside attention's output is for the product's weights.
  const int64_t read_by_attention = op.matmul.rows * op.matmul.inputs * op.element_bytes;
  for (SavedTensor& saved : op.saves) {
    if (saved.tensor != KeptTensor::kAttentionOutput) continue;
    saved.bytes = std::min(saved.bytes, read_by_attention);
  }
}

void Freeze(const BlockShape& shape, UnitTraining training, const EnumSet<OperatorName>& adapted,
            Operator& op) {
  for (OperatorParameter& parameter : op.parameters) parameter.trained = false;
  op.learns = false;
  // With adapters the inputs of a unit's products are gathered again for their gradients.
  if (op.kind != OperatorKind::kCollective || adapted.empty()) RemovePass(op, kWeightGradient);
  RemoveInputs(shape, adapted, op);
  if (training != UnitTraining::kWithoutBackward) return;
  op.propagates = false;
  RemovePass(op, kInputGradient);
  op.saves = {};
}

void HoldInFourBits(Operator& op) {
  if (!IsLinear(op)) return;
  for (OperatorParameter& parameter : op.parameters) {
    parameter.four_bit = parameter.matrix;
    if (!parameter.matrix) continue;
    op.widened_bytes = std::max(op.widened_bytes, parameter.rank_elements() * op.element_bytes);
  }
  op.stream.traffic_bytes[kForward] += kWiden;
  op.stream.traffic_bytes[kInputGradient] += kWiden;
}

// The adapter of one matrix of a product.
class AdapterBuilder {
 public:
  AdapterBuilder(const Adapter& adapter, const Operator& base, const OperatorParameter& matrix,
                 OperatorList& operators)
      : adapter_(adapter),
        base_(base),
        matrix_(matrix),
        inputs_(matrix.rank_columns),
        outputs_(matrix.rank_rows / std::max<int64_t>(matrix.rank_experts, 1)),
        operators_(operators) {}

  void Build() {
    Down();
    Up();
    if (adapter_.kind == AdapterKind::kDora) Norms();
  }

 private:
  Operator& Product(int64_t rows, int64_t outputs, int64_t inputs) {
    Operator& op = operators_.emplace_back();
    op.name = base_.name;
    op.kind = OperatorKind::kMatmul;
    op.element_bytes = base_.element_bytes;
    op.accumulator_bytes = base_.accumulator_bytes;
    op.matmul = {.rows = rows, .outputs = outputs, .inputs = inputs, .groups = base_.matmul.groups};
    op.adapts = true;
    op.recomputed = base_.recomputed;
    return op;
  }

  // Returns a matrix that is divided as the product's own is, if that is by `side`.
  OperatorParameter Matrix(std::string_view name, Division side) const {
    OperatorParameter parameter = matrix_;
    parameter.name = name;
    parameter.trained = true;
    parameter.four_bit = false;
    if (parameter.experts > 0) {
      if (parameter.expert_division != side) parameter.expert_division = Division::kWhole;
    } else if (parameter.division != side) {
      parameter.division = Division::kWhole;
    }
    return parameter;
  }

  // Its input is what the product itself reads. Its gradient is added to the product's.
  void Down() {
    Operator& op = Product(base_.matmul.rows, adapter_.rank, inputs_);
    OperatorParameter parameter = Matrix("adapter_down", Division::kColumns);
    parameter.rows = adapter_.rank * std::max<int64_t>(parameter.experts, 1);
    parameter.rank_rows = adapter_.rank * std::max<int64_t>(parameter.rank_experts, 1);
    op.parameters.push_back(parameter);
    op.stream = {.elements = base_.matmul.rows * inputs_, .traffic_bytes = {0.0, kAdd, 0.0}};
    Save(op, base_.matmul.rows * adapter_.rank);
  }

  // Its result is added to the product's.
  void Up() {
    Operator& op = Product(base_.matmul.rows, outputs_, adapter_.rank);
    OperatorParameter parameter = Matrix("adapter_up", Division::kRows);
    parameter.columns = adapter_.rank;
    parameter.rank_columns = adapter_.rank;
    op.parameters.push_back(parameter);
    op.stream = {.elements = base_.matmul.rows * outputs_, .traffic_bytes = {kAdd, 0.0, 0.0}};
    if (adapter_.kind != AdapterKind::kDora) return;
    parameter.name = "adapter_magnitude";
    parameter.columns = 1;
    parameter.rank_columns = 1;
    parameter.matrix = false;
    op.parameters.push_back(parameter);
    // As PEFT's layer does, which makes both results before it scales them.
    op.stream.traffic_bytes[kWeightGradient] = kAdd;
    Save(op, kKeptForMagnitudes * base_.matmul.rows * outputs_);
  }

  // The norms of the sum's rows, which gradients do not pass through.
  void Norms() {
    Operator& op = Product(outputs_ * base_.matmul.groups, inputs_, adapter_.rank);
    op.stream = {.elements = outputs_ * base_.matmul.groups * inputs_,
                 .traffic_bytes = {kNormOfSum, 0.0, 0.0}};
    op.propagates = false;
    op.learns = false;
  }

  static void Save(Operator& op, int64_t elements) {
    op.saves.push_back({.tensor = KeptTensor::kAdapter,
                        .freed_by = op.name,
                        .freed_in = PassKind::kWeightGradient,
                        .bytes = elements * op.element_bytes});
  }

  const Adapter& adapter_;
  const Operator& base_;
  const OperatorParameter& matrix_;
  const int64_t inputs_;   // of the rank's part of the product
  const int64_t outputs_;  // likewise
  OperatorList& operators_;
};

EnumSet<OperatorName> AdaptedOf(const Adapter& adapter, const OperatorList& block) {
  EnumSet<OperatorName> adapted;
  if (!adapter.exists()) return adapted;
  for (const Operator& op : block) {
    for (const OperatorParameter& parameter : op.parameters) {
      if (IsAdapted(adapter, op, parameter)) adapted.Add(op.name);
    }
  }
  return adapted;
}

void AddAdapters(const Adapter& adapter, OperatorList& block) {
  OperatorList with;
  for (const Operator& op : block) {
    with.push_back(op);
    for (const OperatorParameter& parameter : op.parameters) {
      if (!IsAdapted(adapter, op, parameter)) continue;
      AdapterBuilder(adapter, op, parameter, with).Build();
    }
  }
  block = with;
}

}  // namespace

void ApplyTraining(const BlockShape& shape, UnitTraining training, Operator& op) {
  if (training == UnitTraining::kTrained) return;
  Freeze(shape, training, /*adapted=*/{}, op);
}

void ApplyTraining(const BlockShape& shape, OperatorList& block) {
  if (shape.training.layer == UnitTraining::kTrained) return;
  const Adapter& adapter = shape.training.adapter;
  const EnumSet<OperatorName> adapted = AdaptedOf(adapter, block);
  for (Operator& op : block) {
    Freeze(shape, shape.training.layer, adapted, op);
    if (adapter.four_bit_base) HoldInFourBits(op);
  }
  if (!adapted.empty()) AddAdapters(adapter, block);
}

}  // namespace meshwright::planner
