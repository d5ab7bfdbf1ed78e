#include "planner/block/tower_unit.h"

#include "planner/block/block.h"
#include "planner/block/tower_parameters.h"
#include "planner/containers/memo.h"

namespace meshwright::planner {
namespace {

bool Divides(const Tower& tower, int64_t tp) {
  return tower.heads % tp == 0 && tower.ffn_hidden % tp == 0;
}

UnitParameters BlocksOn(const Tower& tower, int64_t tp) {
  const UnitParameters block = RankParameters(BlockOperators(TowerShape(tower, tp)));
  return {.all = tower.layers * block.all, .vectors = tower.layers * block.vectors};
}

int64_t VectorsOfEnds(const Tower& tower) {
  int64_t vectors = tower.norm_elements + (tower.patch_bias ? tower.hidden : 0);
  for (const TowerProjection& projection : tower.projector) {
    if (projection.bias) vectors += projection.outputs;
  }
  return vectors;
}

struct TowerOnRanks {
  const Tower& tower;
  int64_t tp = 1;
};
struct TowerKey {
  TowerKey() = default;
  explicit TowerKey(const TowerOnRanks& of) : tower(of.tower), tp(of.tp) {}

  Tower tower;
  int64_t tp = 1;

  friend bool operator==(const TowerKey& key, const TowerOnRanks& of) {
    return key.tp == of.tp && key.tower == of.tower;
  }
};

}  // namespace

UnitParameters TowerRankParameters(const Tower& tower, int64_t tp) {
  thread_local Memo<TowerKey, UnitParameters, kShapesOfAModel> known;
  return known.Get(TowerOnRanks{tower, tp}, [&] {
    UnitParameters unit = BlocksOn(tower, Divides(tower, tp) ? tp : 1);
    unit.all += TowerParameters(tower) - BlocksOn(tower, 1).all;
    unit.vectors += VectorsOfEnds(tower);
    return unit;
  });
}

}  // namespace meshwright::planner
