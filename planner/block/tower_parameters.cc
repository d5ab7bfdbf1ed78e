#include "planner/block/tower_parameters.h"

#include "planner/block/block.h"

namespace meshwright::planner {

BlockShape TowerShape(const Tower& tower, int64_t tp) {
  const bool sandwich = tower.norm == TowerNorm::kRmsSandwich;
  return {.tokens = 1,
          .hidden = tower.hidden,
          .heads = tower.heads,
          .kv_heads = tower.heads,
          .head_dim = tower.hidden / tower.heads,
          .ffn_hidden = tower.ffn_hidden,
          .ffn = tower.gated ? FfnKind::kSwiGlu : FfnKind::kGelu,
          .tp = tp,
          .head_norm = sandwich,
          .keys = 1,
          .qkv_bias = tower.biases,
          .output_bias = tower.biases,
          .ffn_bias = tower.biases,
          .norm = tower.norm == TowerNorm::kLayer ? StreamNorm::kLayer : StreamNorm::kRms,
          .arrangement = sandwich ? Arrangement::kSandwich : Arrangement::kSequential,
          .positions = Positions::kNone};
}

int64_t TowerParameters(const Tower& tower) {
  int64_t block = 0;
  for (const Operator& op : BlockOperators(TowerShape(tower, 1))) {
    for (const OperatorParameter& parameter : op.parameters) block += parameter.elements();
  }
  int64_t count =
      tower.layers * block + tower.norm_elements +
      (tower.patch_inputs + tower.positions + (tower.patch_bias ? 1 : 0)) * tower.hidden;
  for (const TowerProjection& projection : tower.projector) {
    count += (projection.inputs + (projection.bias ? 1 : 0)) * projection.outputs;
  }
  return count;
}

int64_t TowerParameters(const ModelSpec& model) {
  int64_t parameters = 0;
  for (const Tower& tower : model.towers) parameters += TowerParameters(tower);
  return parameters;
}

}  // namespace meshwright::planner
