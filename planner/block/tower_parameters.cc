#include "planner/block/tower_parameters.h"

#include "planner/block/block.h"

namespace meshwright::planner {
namespace {

// A tower's block is a block of a transformer with as many key heads as query heads.
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

UnitParameters EndsOf(const Tower& tower) {
  UnitParameters ends;
  ends.vectors = tower.norm_elements + (tower.patch_bias ? tower.hidden : 0);
  ends.all = (tower.patch_inputs + tower.positions) * tower.hidden;
  for (const TowerProjection& projection : tower.projector) {
    ends.all += projection.inputs * projection.outputs;
    if (projection.bias) ends.vectors += projection.outputs;
  }
  ends.all += ends.vectors;
  return ends;
}

bool Divides(const Tower& tower, int64_t tp) {
  return tower.heads % tp == 0 && tower.ffn_hidden % tp == 0;
}

}  // namespace

UnitParameters TowerRankParameters(const Tower& tower, int64_t tp) {
  const UnitParameters block =
      RankParameters(BlockOperators(TowerShape(tower, Divides(tower, tp) ? tp : 1)));
  UnitParameters unit = EndsOf(tower);
  unit.all += tower.layers * block.all;
  unit.vectors += tower.layers * block.vectors;
  return unit;
}

int64_t TowerParameters(const Tower& tower) { return TowerRankParameters(tower, 1).all; }

int64_t TowerBlockParameters(const Tower& tower) {
  return RankParameters(BlockOperators(TowerShape(tower, 1))).all;
}

int64_t TowerParameters(const ModelSpec& model) {
  int64_t parameters = 0;
  for (const Tower& tower : model.towers) parameters += TowerParameters(tower);
  return parameters;
}

}  // namespace meshwright::planner
