#include "planner/block/recompute.h"

namespace meshwright::planner {
namespace {

template <typename Keeps>
void Drop(OperatorList& block, const Keeps& keeps) {
  for (Operator& op : block) {
    op.saves.RemoveIf([&keeps](const SavedTensor& saved) { return !keeps(saved.tensor); });
  }
}

}  // namespace

void RecomputeCoreAttention(OperatorList& block) {
  Drop(block, [](KeptTensor tensor) { return tensor != KeptTensor::kScores; });
  for (Operator& op : block) {
    if (op.name == OperatorName::kAttention) op.recomputed = true;
  }
}

void RecomputeNormsAndActivation(OperatorList& block) {
  Drop(block, [](KeptTensor tensor) {
    return tensor != KeptTensor::kAttentionNormOutput && tensor != KeptTensor::kFfnNormOutput &&
           tensor != KeptTensor::kSiluGate && tensor != KeptTensor::kFfnProduct &&
           tensor != KeptTensor::kNormIntermediates;
  });
  for (Operator& op : block) {
    if (op.name == OperatorName::kAttentionNorm || op.name == OperatorName::kFfnNorm ||
        op.name == OperatorName::kFfnActivation) {
      op.recomputed = true;
    }
  }
}

void RecomputeAll(OperatorList& block) {
  Drop(block, [](KeptTensor tensor) { return tensor == KeptTensor::kAttentionResidual; });
  for (Operator& op : block) op.recomputed = true;
}

void Apply(Recompute recompute, const BlockShape& shape, OperatorList& block) {
  switch (recompute) {
    case Recompute::kNone:
      return;
    case Recompute::kSelective:
      shape.selective_drops_operators ? RecomputeNormsAndActivation(block)
                                      : RecomputeCoreAttention(block);
      return;
    case Recompute::kFull:
    case Recompute::kBlock:
      RecomputeAll(block);
      return;
  }
}

}  // namespace meshwright::planner
