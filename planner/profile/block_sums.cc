#include "planner/profile/block_sums.h"

#include <algorithm>

#include "planner/block/block.h"
#include "planner/block/kept.h"
#include "planner/containers/memo.h"

namespace meshwright::planner {
namespace {

struct Key {
  BlockShape shape;
  LayerRecompute recompute;
  WorkspaceRates rates;

  friend bool operator==(const Key&, const Key&) = default;
};

void AddEnds(const BlockShape& shape, BlockSums& sums) {
  const OperatorList embedding = EmbeddingOperators(shape);
  sums.embedding = RankParameters(embedding);
  sums.embedding_cost = CostOf(embedding);
  const OperatorList head = HeadOperators(shape);
  for (const Operator& op : head) {
    (op.name == OperatorName::kFinalNorm ? sums.final_norm : sums.head) += RankParameters(op);
  }
  sums.head_cost = CostOf(head);
  const OperatorList mtp = MtpOperators(shape);
  sums.mtp = RankParameters(mtp);
  sums.mtp_matrices = MatricesOf(mtp);
  sums.mtp_kept_bytes = KeptBytes(mtp);
  sums.mtp_cost = CostOf(mtp);
  const Operator* loss = Find(head, OperatorName::kCrossEntropy);
  if (loss != nullptr) sums.logits = static_cast<double>(loss->stream.elements);
  sums.keeps_head_input = KeptBytes(head, KeptTensor::kFinalNormOutput) > 0;
}

// A layer without a backward keeps no input.
int64_t BoundaryBytes(const BlockShape& shape, int64_t kept_bytes) {
  if (shape.training.layer != UnitTraining::kWithoutBackward) return kept_bytes;
  BlockShape trained = shape;
  trained.training = {};
  return KeptBytes(BlockOperators(trained), KeptTensor::kAttentionResidual);
}

KeptShares SharesOf(const BlockShape& shape, const OperatorList& operators) {
  KeptShares shares;
  if (shape.has_experts()) {
    shares.experts_bytes = KeptBytes(operators, KeptTensor::kRouting, KeptTensor::kExpertOutput);
  }
  if (shape.is_latent()) {
    shares.projected_bytes = KeptBytes(operators, KeptTensor::kQuery, KeptTensor::kValue);
    shares.latent_bytes = KeptBytes(operators, KeptTensor::kLatent, KeptTensor::kLatentNormOutput);
  }
  return shares;
}

// Each module is recomputed right before its own backward and freed before the next one is.
Workspace LargestModule(const Key& key, const KeptForBackward& all) {
  Workspace largest;
  key.recompute.modules.ForEach([&](RecomputeModule module) {
    OperatorList operators = BlockOperators(key.shape);
    Apply(PartsOf(module, key.shape), operators);
    const Workspace again = RecomputedBytes(all, KeptForBackward(operators));
    largest.working_bytes = std::max(largest.working_bytes, again.working_bytes);
    largest.score_bytes = std::max(largest.score_bytes, again.score_bytes);
  });
  return largest;
}

ListCost SkippedCost(const OperatorList& recomputed) {
  OperatorList skipped;
  for (const Operator& op : recomputed) {
    if (!op.recomputed) skipped.push_back(op);
  }
  return CostOf(skipped);
}

void AddLayer(const Key& key, BlockSums& sums) {
  OperatorList operators = BlockOperators(key.shape);
  const KeptForBackward all(operators);
  sums.layer = RankParameters(operators);
  sums.layer_matrices = MatricesOf(operators);
  sums.kept_bytes = all.all_bytes;
  sums.kept_shares = SharesOf(key.shape, operators);
  sums.checkpoint_bytes = KeptBytes(operators, KeptTensor::kAttentionResidual);
  sums.boundary_bytes = BoundaryBytes(key.shape, sums.checkpoint_bytes);
  sums.workspace = WorkspaceOf(operators, key.rates);
  const Recompute mode = key.recompute.mode;
  if (mode == Recompute::kNone) {
    sums.layer_cost = CostOf(operators);
    return;
  }
  const bool in_part = mode == Recompute::kSelective || mode == Recompute::kModules;
  // Full recompute runs the whole forward again, which is timed separately.
  if (!in_part) sums.layer_cost = CostOf(operators);
  Apply(PartsOf(key.recompute, key.shape), operators);
  sums.workspace += mode == Recompute::kModules ? LargestModule(key, all)
                                                : RecomputedBytes(all, KeptForBackward(operators));
  if (!in_part) {
    sums.skipped_cost = SkippedCost(operators);
    return;
  }
  const KeptForBackward edited(operators);
  sums.kept_bytes = edited.all_bytes;
  sums.kept_shares = SharesOf(key.shape, operators);
  sums.layer_cost = CostOf(operators);
}

}  // namespace

std::shared_ptr<const BlockSums> BlockSumsOf(const BlockShape& shape,
                                             const LayerRecompute& recompute,
                                             const WorkspaceRates& rates) {
  thread_local Memo<Key, std::shared_ptr<const BlockSums>, kShapesOfASearch> known;
  const Key key = {.shape = shape, .recompute = recompute, .rates = rates};
  return known.Get(key, [&] {
    auto sums = std::make_shared<BlockSums>();
    sums->shape = shape;
    AddEnds(shape, *sums);
    AddLayer(key, *sums);
    return sums;
  });
}

}  // namespace meshwright::planner
