#include "planner/block/lifetime.h"

#include <algorithm>

namespace meshwright::planner {

TensorOrigin OriginOf(KeptTensor tensor) {
  const auto result_of = [](OperatorName name) {
    return TensorOrigin{.origin = Origin::kResult, .result_of = name};
  };
  switch (tensor) {
    case KeptTensor::kTokenIds:
    case KeptTensor::kAttentionResidual:
    case KeptTensor::kPatches:
    case KeptTensor::kTowerNormInput:
    case KeptTensor::kTowerProjectionInput:
    case KeptTensor::kFinalResidual:
    case KeptTensor::kTargets:
    case KeptTensor::kMtpResidual:
      return {.origin = Origin::kGiven};
    case KeptTensor::kMtpNormOutput:
      return result_of(OperatorName::kMtpNorm);
    case KeptTensor::kAttentionNormOutput:
      return result_of(OperatorName::kAttentionNorm);
    case KeptTensor::kLatent:
      return result_of(OperatorName::kLatentProjection);
    case KeptTensor::kLatentNormOutput:
      return result_of(OperatorName::kLatentNorm);
    case KeptTensor::kRouterScores:
      return result_of(OperatorName::kRouter);
    case KeptTensor::kExpertInput:
      return result_of(OperatorName::kExpertDispatch);
    case KeptTensor::kExpertGate:
    case KeptTensor::kExpertUp:
      return result_of(OperatorName::kExpertGateUpProjection);
    case KeptTensor::kExpertProduct:
      return result_of(OperatorName::kExpertActivation);
    case KeptTensor::kExpertOutput:
      return result_of(OperatorName::kExpertDownProjection);
    case KeptTensor::kEmbeddingNormInput:
      return result_of(OperatorName::kEmbedding);
    case KeptTensor::kAttentionNormInput:
      return result_of(OperatorName::kOutputProjection);
    case KeptTensor::kFfnNormInput:
      return result_of(OperatorName::kDownProjection);
    case KeptTensor::kQuery:
    case KeptTensor::kKey:
    case KeptTensor::kValue:
      return result_of(OperatorName::kQkvProjection);
    case KeptTensor::kOutputLatent:
      return result_of(OperatorName::kOutputGroupsProjection);
    case KeptTensor::kMixerInput:
      return result_of(OperatorName::kMixerProjection);
    case KeptTensor::kMixerOutput:
      return result_of(OperatorName::kMixerCore);
    case KeptTensor::kMixerProduct:
      return result_of(OperatorName::kMixerNorm);
    case KeptTensor::kExpertLatent:
      return result_of(OperatorName::kExpertLatentProjection);
    case KeptTensor::kAttentionOutput:
      return result_of(OperatorName::kAttention);
    case KeptTensor::kFfnResidual:
      return result_of(OperatorName::kAttentionResidual);
    case KeptTensor::kFfnNormOutput:
      return result_of(OperatorName::kFfnNorm);
    case KeptTensor::kGate:
    case KeptTensor::kUp:
      return result_of(OperatorName::kGateUpProjection);
    case KeptTensor::kFfnProduct:
      return result_of(OperatorName::kFfnActivation);
    case KeptTensor::kFinalNormOutput:
      return result_of(OperatorName::kFinalNorm);
    case KeptTensor::kLogits:
      return result_of(OperatorName::kHeadProjection);
    case KeptTensor::kLatentRstd:
    case KeptTensor::kTurnedKey:
    case KeptTensor::kRouting:
    case KeptTensor::kExpertSiluGate:
    case KeptTensor::kEmbeddingNormRstd:
    case KeptTensor::kAttentionNormRstd:
    case KeptTensor::kAttentionPostNormRstd:
    case KeptTensor::kHeadNormInput:
    case KeptTensor::kLogSumExp:
    case KeptTensor::kAttentionGate:
    case KeptTensor::kIndex:
    case KeptTensor::kMixerStates:
    case KeptTensor::kLayerInput:
    case KeptTensor::kSharedInput:
    case KeptTensor::kStreams:
    case KeptTensor::kLaurel:
    case KeptTensor::kFfnNormRstd:
    case KeptTensor::kFfnPostNormRstd:
    case KeptTensor::kSiluGate:
    case KeptTensor::kNormIntermediates:
    case KeptTensor::kExtras:
    case KeptTensor::kAdapter:
    case KeptTensor::kScores:
    case KeptTensor::kFinalNormRstd:
    case KeptTensor::kLossStatistics:
      return {.origin = Origin::kBeside};
  }
  return {};
}

TensorOrigin OriginOf(const SavedTensor& saved) {
  return saved.narrow_copy ? TensorOrigin{.origin = Origin::kBeside} : OriginOf(saved.tensor);
}

bool GradientTakesPlace(const Operator& op) {
  return std::any_of(op.saves.begin(), op.saves.end(), [&op](const SavedTensor& saved) {
    return saved.freed_by != op.name && saved.freed_in == PassKind::kWeightGradient &&
           !saved.narrow_copy;
  });
}

}  // namespace meshwright::planner
