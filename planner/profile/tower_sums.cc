#include "planner/profile/tower_sums.h"

#include "planner/block/kept.h"
#include "planner/block/tower_operators.h"
#include "planner/containers/memo.h"
#include "planner/profile/layer_shape.h"

namespace meshwright::planner {
namespace {

struct TowerOnRank {
  const Tower& tower;
  int64_t tokens = 0;  // of the language model, in a micro-batch
  std::shared_ptr<const BlockSums> block;
};

struct TowerKey {
  TowerKey() = default;
  explicit TowerKey(const TowerOnRank& of) : tower(of.tower), tokens(of.tokens), block(of.block) {}

  Tower tower;
  int64_t tokens = 0;
  std::shared_ptr<const BlockSums> block;

  friend bool operator==(const TowerKey& key, const TowerOnRank& of) {
    return key.tokens == of.tokens && key.block == of.block && key.tower == of.tower;
  }
};

}  // namespace

std::shared_ptr<const TowerSums> TowerSumsOf(const EstimateContext& context, const Layout& layout,
                                             const Tower& tower) {
  thread_local Memo<TowerKey, std::shared_ptr<const TowerSums>, kShapesOfASearch> known;
  const TowerOnRank key = {
      .tower = tower,
      .tokens = context.training.media_tokens * layout.micro_batch,
      .block = BlockSumsOf(TowerLayerShape(context, layout, tower),
                           RecomputeOf(layout, /*layer=*/0), WorkspaceRatesOf(context.profile))};
  return known.Get(key, [&] {
    const OperatorList ends = TowerEndOperators(tower, key.block->shape, key.tokens);
    auto sums = std::make_shared<TowerSums>();
    sums->layers = tower.layers;
    sums->block = key.block;
    sums->ends = RankParameters(ends);
    sums->ends_kept_bytes = KeptBytes(ends);
    sums->ends_cost = CostOf(ends);
    return sums;
  });
}

bool RecomputesTowers(const Layout& layout) { return layout.recompute == Recompute::kFull; }

int64_t KeptBytes(const TowerSums& tower, const Layout& layout) {
  const BlockSums& block = *tower.block;
  return tower.ends_kept_bytes +
         tower.layers * (RecomputesTowers(layout) ? block.checkpoint_bytes : block.kept_bytes);
}

}  // namespace meshwright::planner
