#include "planner/block/tower_operators.h"

#include "planner/block/operator_builder.h"
#include "planner/block/trained_operators.h"

namespace meshwright::planner {
namespace {

class TowerEnds : public OperatorBuilder {
 public:
  TowerEnds(const Tower& tower, const BlockShape& patches, OperatorList& operators)
      : OperatorBuilder(patches, operators), tower_(tower) {}

  // Nothing before the patches has a gradient.
  void Patches() {
    Operator& op = Matmul(OperatorName::kPatchEmbedding, tower_.hidden, tower_.patch_inputs);
    op.detached = true;
    op.parameters.push_back(Whole("patches", tower_.hidden, tower_.patch_inputs));
    if (tower_.patch_bias) op.parameters.push_back(Vector("patches_bias", tower_.hidden));
    if (tower_.positions > 0) {
      op.parameters.push_back(Whole("patch_positions", tower_.positions, tower_.hidden));
    }
    Save(op, KeptTensor::kPatches, s_.tokens * tower_.patch_inputs * s_.element_bytes, op.name,
         kWeightGradient);
  }

  void Norms() {
    if (tower_.norm_elements == 0) return;
    Operator& op = Add(OperatorName::kTowerNorm, OperatorKind::kNorm);
    op.stream = {.elements = s_.tokens * tower_.hidden,
                 .traffic_bytes = {kFusedNormForward, kFusedNormBackward, 0.0}};
    op.parameters.push_back(Vector("tower_norms", tower_.norm_elements));
    op.pass(kForward).result_bytes = hidden_bytes_;
    Save(op, KeptTensor::kTowerNormInput, hidden_bytes_, op.name, kInputGradient);
  }

  void Projector(int64_t tokens) {
    for (const TowerProjection& projection : tower_.projector) {
      Operator& op = Matmul(OperatorName::kTowerProjection, projection.outputs, projection.inputs);
      op.matmul.rows = tokens;
      op.parameters.push_back(Whole("projector", projection.outputs, projection.inputs));
      if (projection.bias) op.parameters.push_back(Vector("projector_bias", projection.outputs));
      op.pass(kForward).result_bytes = tokens * projection.outputs * s_.element_bytes;
      op.pass(kInputGradient).result_bytes = tokens * projection.inputs * s_.element_bytes;
      Save(op, KeptTensor::kTowerProjectionInput, tokens * projection.inputs * s_.element_bytes,
           op.name, kWeightGradient);
    }
  }

 private:
  const Tower& tower_;
};

}  // namespace

BlockShape TowerBlockShape(const Tower& tower, const TrainedParts& parts) {
  const bool sandwich = tower.norm == TowerNorm::kRmsSandwich;
  return {.tokens = 1,
          .hidden = tower.hidden,
          .heads = tower.heads,
          .kv_heads = tower.heads,
          .head_dim = tower.hidden / tower.heads,
          .ffn_hidden = tower.ffn_hidden,
          .ffn = tower.gated ? FfnKind::kSwiGlu : FfnKind::kGelu,
          .head_norm = sandwich,
          .keys = 1,
          .bidirectional = true,
          .qkv_bias = tower.biases,
          .output_bias = tower.biases,
          .ffn_bias = tower.biases,
          .norm = tower.norm == TowerNorm::kLayer ? StreamNorm::kLayer : StreamNorm::kRms,
          .arrangement = sandwich ? Arrangement::kSandwich : Arrangement::kSequential,
          .positions = Positions::kNone,
          .training = {.layer = parts.OfTowers(), .head = parts.OfProjector()}};
}

bool DividesTower(const Tower& tower, int64_t tp) {
  return tower.heads % tp == 0 && tower.ffn_hidden % tp == 0;
}

OperatorList TowerEndOperators(const Tower& tower, const BlockShape& patches, int64_t tokens) {
  OperatorList operators;
  TowerEnds ends(tower, patches, operators);
  ends.Patches();
  ends.Norms();
  ends.Projector(tokens);
  for (Operator& op : operators) {
    const bool projects = op.name == OperatorName::kTowerProjection;
    ApplyTraining(patches, projects ? patches.training.head : patches.training.layer, op);
  }
  return operators;
}

}  // namespace meshwright::planner
