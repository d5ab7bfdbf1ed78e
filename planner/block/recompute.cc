#include "planner/block/recompute.h"

#include "planner/block/kept.h"

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

// ReLU keeps its product alone, and there is nothing to make it again from.
void RecomputeNormsAndActivation(OperatorList& block) {
  const bool activates_again =
      KeptBytes(block, KeptTensor::kUp) + KeptBytes(block, KeptTensor::kExpertUp) > 0;
  Drop(block, [activates_again](KeptTensor tensor) {
    return tensor != KeptTensor::kAttentionNormOutput && tensor != KeptTensor::kFfnNormOutput &&
           tensor != KeptTensor::kSiluGate &&
           (tensor != KeptTensor::kFfnProduct || !activates_again) &&
           tensor != KeptTensor::kLatentNormOutput && tensor != KeptTensor::kExpertSiluGate &&
           (tensor != KeptTensor::kExpertProduct || !activates_again) &&
           tensor != KeptTensor::kNormIntermediates;
  });
  for (Operator& op : block) {
    op.recomputed = op.kind == OperatorKind::kNorm
                        ? op.name != OperatorName::kHeadNorm
                        : activates_again && (op.name == OperatorName::kFfnActivation ||
                                              op.name == OperatorName::kExpertActivation);
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
