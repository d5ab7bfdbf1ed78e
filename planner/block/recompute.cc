#include "planner/block/recompute.h"

#include "planner/base/enum_set.h"
#include "planner/block/kept.h"

namespace meshwright::planner {
namespace {

template <typename Keeps>
void Drop(OperatorList& block, const Keeps& keeps) {
  for (Operator& op : block) {
    op.saves.RemoveIf([&keeps](const SavedTensor& saved) { return !keeps(saved.tensor); });
  }
}

// What a module keeps no longer, and what runs again for it.
struct ModuleParts {
  EnumSet<KeptTensor> frees;
  EnumSet<OperatorName> runs;
};

const EnumSet<KeptTensor> kFfnTensors = {KeptTensor::kGate, KeptTensor::kUp, KeptTensor::kSiluGate,
                                         KeptTensor::kFfnProduct};
const EnumSet<OperatorName> kFfnOperators = {
    OperatorName::kFfnEnter, OperatorName::kGateUpProjection, OperatorName::kFfnActivation,
    OperatorName::kDownProjection, OperatorName::kFfnLeave};

ModuleParts NormParts(const BlockShape& shape) {
  ModuleParts parts;
  if (shape.is_latent()) {
    parts.frees.Add(KeptTensor::kAttentionNormOutput);
    parts.runs.Add(OperatorName::kAttentionNorm);
  }
  if (shape.has_experts()) {
    parts.frees.Add(KeptTensor::kFfnNormOutput);
    parts.runs.Add(OperatorName::kFfnNorm);
  }
  if (!parts.frees.empty()) parts.frees.Add(KeptTensor::kNormIntermediates);
  return parts;
}

ModuleParts DenseFfnParts(const BlockShape& shape) {
  if (shape.has_experts()) return {};
  ModuleParts parts = {.frees = kFfnTensors, .runs = kFfnOperators};
  if (shape.arrangement == Arrangement::kSequential ||
      shape.arrangement == Arrangement::kParallel) {
    parts.frees.Add(KeptTensor::kFfnNormOutput);
    parts.runs.Add(OperatorName::kFfnNorm);
  }
  return parts;
}

ModuleParts ExpertParts() {
  return {.frees = {KeptTensor::kRouterScores, KeptTensor::kRouting, KeptTensor::kExpertInput,
                    KeptTensor::kExpertGate, KeptTensor::kExpertUp, KeptTensor::kExpertSiluGate,
                    KeptTensor::kExpertProduct, KeptTensor::kExpertOutput},
          .runs = {OperatorName::kRouter, OperatorName::kExpertDispatch,
                   OperatorName::kExpertGateUpProjection, OperatorName::kExpertActivation,
                   OperatorName::kExpertDownProjection, OperatorName::kExpertCombine}};
}

ModuleParts PartsOf(RecomputeModule module, const BlockShape& shape) {
  switch (module) {
    case RecomputeModule::kLayerNorm:
      return NormParts(shape);
    case RecomputeModule::kMoeAct:
      // ReLU keeps its product alone, and there is nothing to make it again from.
      if (shape.ffn == FfnKind::kRelu) return {};
      return {.frees = {KeptTensor::kExpertProduct, KeptTensor::kExpertSiluGate},
              .runs = {OperatorName::kExpertActivation}};
    case RecomputeModule::kMlaUpProj:
      if (!shape.is_latent()) return {};
      return {.frees = {KeptTensor::kLatentNormOutput, KeptTensor::kHeadNormInput,
                        KeptTensor::kQuery, KeptTensor::kKey, KeptTensor::kValue},
              .runs = {OperatorName::kLatentNorm, OperatorName::kAttentionEnter,
                       OperatorName::kQueryProjection, OperatorName::kQkvProjection,
                       OperatorName::kHeadNorm, OperatorName::kRope}};
    case RecomputeModule::kSharedExperts:
      if (!shape.has_experts()) return {};
      return {.frees = kFfnTensors, .runs = kFfnOperators};
    case RecomputeModule::kMlp:
      return DenseFfnParts(shape);
    case RecomputeModule::kMoe: {
      if (!shape.has_experts()) return {};
      const ModuleParts experts = ExpertParts();
      return {.frees = experts.frees.With(kFfnTensors), .runs = experts.runs.With(kFfnOperators)};
    }
    case RecomputeModule::kCoreAttn:
      return {.frees = {KeptTensor::kScores}, .runs = {OperatorName::kAttention}};
  }
  return {};
}

}  // namespace

void Apply(RecomputeModule module, const BlockShape& shape, OperatorList& block) {
  const ModuleParts parts = PartsOf(module, shape);
  Drop(block, [&parts](KeptTensor tensor) { return !parts.frees.Has(tensor); });
  for (Operator& op : block) op.recomputed = op.recomputed || parts.runs.Has(op.name);
}

void RecomputeCoreAttention(OperatorList& block) {
  Apply(RecomputeModule::kCoreAttn, BlockShape(), block);
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
    case Recompute::kModules:
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
