#include "planner/block/recompute.h"

#include <algorithm>

#include "planner/block/lifetime.h"

namespace meshwright::planner {
namespace {

const EnumSet<KeptTensor> kFfnTensors = {KeptTensor::kGate, KeptTensor::kUp, KeptTensor::kSiluGate,
                                         KeptTensor::kFfnProduct};
const EnumSet<OperatorName> kFfnOperators = {
    OperatorName::kFfnEnter, OperatorName::kGateUpProjection, OperatorName::kFfnActivation,
    OperatorName::kDownProjection, OperatorName::kFfnLeave};

void Add(const RecomputedParts& more, RecomputedParts& parts) {
  parts.frees = parts.frees.With(more.frees);
  parts.runs = parts.runs.With(more.runs);
}

RecomputedParts NormParts(const BlockShape& shape) {
  RecomputedParts parts;
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

// ReLU keeps only its product, and no tensor from which the product could be recomputed.
bool ActivatesAgain(const BlockShape& shape) { return shape.ffn != FfnKind::kRelu; }

RecomputedParts ExpertActivationParts(const BlockShape& shape) {
  if (!ActivatesAgain(shape)) return {};
  return {.frees = {KeptTensor::kExpertProduct, KeptTensor::kExpertSiluGate},
          .runs = {OperatorName::kExpertActivation}};
}

RecomputedParts UpProjectionParts(const BlockShape& shape) {
  if (!shape.is_latent()) return {};
  return {.frees = {KeptTensor::kLatentNormOutput, KeptTensor::kHeadNormInput, KeptTensor::kQuery,
                    KeptTensor::kKey, KeptTensor::kValue, KeptTensor::kTurnedKey},
          .runs = {OperatorName::kLatentNorm, OperatorName::kAttentionEnter,
                   OperatorName::kQueryProjection, OperatorName::kQkvProjection,
                   OperatorName::kHeadNorm, OperatorName::kRope}};
}

RecomputedParts DenseFfnParts(const BlockShape& shape) {
  if (shape.has_experts()) return {};
  RecomputedParts parts = {.frees = kFfnTensors, .runs = kFfnOperators};
  if (shape.arrangement == Arrangement::kSequential ||
      shape.arrangement == Arrangement::kParallel || shape.arrangement == Arrangement::kSandwich) {
    parts.frees.Add(KeptTensor::kFfnNormOutput);
    parts.runs.Add(OperatorName::kFfnNorm);
  }
  return parts;
}

RecomputedParts SharedExpertParts(const BlockShape& shape) {
  if (!shape.has_experts()) return {};
  return {.frees = kFfnTensors, .runs = kFfnOperators};
}

// The work of experts on the rows of tokens, from the dispatch of the rows to the experts' results.
RecomputedParts RoutedParts(const BlockShape& shape) {
  if (!shape.has_experts()) return {};
  return {
      .frees = {KeptTensor::kExpertInput, KeptTensor::kExpertGate, KeptTensor::kExpertUp,
                KeptTensor::kExpertSiluGate, KeptTensor::kExpertProduct, KeptTensor::kExpertOutput},
      .runs = {OperatorName::kExpertDispatch, OperatorName::kExpertGateUpProjection,
               OperatorName::kExpertActivation, OperatorName::kExpertDownProjection}};
}

RecomputedParts ExpertParts(const BlockShape& shape) {
  if (!shape.has_experts()) return {};
  RecomputedParts parts = {.frees = {KeptTensor::kRouterScores, KeptTensor::kRouting},
                           .runs = {OperatorName::kRouter, OperatorName::kExpertCombine}};
  Add(RoutedParts(shape), parts);
  Add(SharedExpertParts(shape), parts);
  return parts;
}

RecomputedParts CoreAttentionParts() {
  return {.frees = {KeptTensor::kScores}, .runs = {OperatorName::kAttention}};
}

RecomputedParts NormAndActivationParts(const BlockShape& shape) {
  RecomputedParts parts = {
      .frees = {KeptTensor::kAttentionNormOutput, KeptTensor::kLatentNormOutput,
                KeptTensor::kFfnNormOutput, KeptTensor::kNormIntermediates, KeptTensor::kSiluGate,
                KeptTensor::kExpertSiluGate},
      .runs = {OperatorName::kAttentionNorm, OperatorName::kSharedNorm, OperatorName::kLatentNorm,
               OperatorName::kFfnNorm}};
  if (!ActivatesAgain(shape)) return parts;
  parts.frees = parts.frees.With({KeptTensor::kFfnProduct, KeptTensor::kExpertProduct});
  parts.runs = parts.runs.With({OperatorName::kFfnActivation, OperatorName::kExpertActivation});
  return parts;
}

// In the order of their calls, the products of attention are queries, keys, values and output, and
// the products of a gated FFN or of a shared expert are gate, up and down. Latent attention keeps
// the latents and recomputes the tensors that are projected from them. Recurrences and gates of
// attention recompute nothing.
RecomputedParts AlternateProductParts(const BlockShape& shape) {
  RecomputedParts parts = NormAndActivationParts(shape);
  Add(RoutedParts(shape), parts);
  parts.runs = parts.runs.With({OperatorName::kHeadNorm, OperatorName::kRope,
                                OperatorName::kOutputProjection, OperatorName::kAttentionLeave,
                                OperatorName::kAttentionResidual, OperatorName::kGateUpProjection});
  parts.frees =
      parts.frees.With({KeptTensor::kHeadNormInput, KeptTensor::kFfnResidual, KeptTensor::kUp});
  parts.stops_early = true;
  if (shape.is_latent()) {
    Add(UpProjectionParts(shape), parts);
  } else {
    parts.frees.Add(KeptTensor::kKey);
    parts.runs.Add(OperatorName::kQkvProjection);
  }
  return parts;
}

// Returns all enumerators up to kLast.
template <auto kLast>
EnumSet<decltype(kLast)> AllUpTo() {
  constexpr int kIndex = static_cast<int>(kLast);
  static_assert(kIndex <= 62, "an EnumSet has no more bits");
  return EnumSet<decltype(kLast)>::FromBits(static_cast<int64_t>(~uint64_t{0} >> (63 - kIndex)));
}

RecomputedParts WholeBlock(const BlockShape& shape) {
  return {.frees = AllUpTo<KeptTensor::kMtpNormOutput>().Without({KeptTensor::kAttentionResidual}),
          .runs = AllUpTo<OperatorName::kMtpProjection>(),
          .stops_early = shape.recompute_stops_early};
}

// Returns how many operators of the block run again until all that they save is there.
size_t EndOfRecompute(const OperatorList& block) {
  size_t end = 0;
  for (size_t i = 0; i < block.size(); ++i) {
    for (const SavedTensor& saved : block[i].saves) {
      const TensorOrigin origin = OriginOf(saved);
      size_t maker = i;
      if (origin.origin == Origin::kGiven) continue;
      while (origin.origin == Origin::kResult && maker > 0 &&
             block[maker].name != origin.result_of) {
        --maker;
      }
      end = std::max(end, maker + 1);
    }
  }
  return end;
}

// Returns the share of a product's results that is freed; 1 if none of them is saved.
double FreedShare(const Operator& product, const EnumSet<KeptTensor>& frees,
                  const OperatorList& block) {
  double freed_bytes = 0.0;
  double all_bytes = 0.0;
  for (const Operator& op : block) {
    for (const SavedTensor& saved : op.saves) {
      const TensorOrigin origin = OriginOf(saved);
      if (origin.origin != Origin::kResult || origin.result_of != product.name) continue;
      all_bytes += static_cast<double>(saved.bytes);
      if (frees.Has(saved.tensor)) freed_bytes += static_cast<double>(saved.bytes);
    }
  }
  return all_bytes > 0.0 ? freed_bytes / all_bytes : 1.0;
}

}  // namespace

LayerRecompute RecomputeOf(const Layout& layout, int64_t layer) {
  const bool keeps_all = layout.recompute == Recompute::kBlock && layer >= layout.recompute_layers;
  return {.mode = keeps_all ? Recompute::kNone : layout.recompute,
          .modules = layout.recompute_modules};
}

RecomputedParts PartsOf(RecomputeModule module, const BlockShape& shape) {
  switch (module) {
    case RecomputeModule::kLayerNorm:
      return NormParts(shape);
    case RecomputeModule::kMoeAct:
      return ExpertActivationParts(shape);
    case RecomputeModule::kMlaUpProj:
      return UpProjectionParts(shape);
    case RecomputeModule::kSharedExperts:
      return SharedExpertParts(shape);
    case RecomputeModule::kMlp:
      return DenseFfnParts(shape);
    case RecomputeModule::kMoe:
      return ExpertParts(shape);
    case RecomputeModule::kCoreAttn:
      return CoreAttentionParts();
  }
  return {};
}

RecomputedParts PartsOf(const LayerRecompute& recompute, const BlockShape& shape) {
  switch (recompute.mode) {
    case Recompute::kNone:
      return {};
    case Recompute::kSelective:
      if (shape.selective_alternates_products) return AlternateProductParts(shape);
      return shape.selective_drops_operators ? NormAndActivationParts(shape) : CoreAttentionParts();
    case Recompute::kFull:
    case Recompute::kBlock:
      return WholeBlock(shape);
    case Recompute::kModules: {
      RecomputedParts parts;
      recompute.modules.ForEach(
          [&](RecomputeModule module) { Add(PartsOf(module, shape), parts); });
      return parts;
    }
  }
  return {};
}

void Apply(const RecomputedParts& parts, OperatorList& block) {
  const bool has_backward =
      std::any_of(block.begin(), block.end(), [](const Operator& op) { return op.propagates; });
  const size_t end = parts.stops_early ? EndOfRecompute(block) : block.size();
  for (size_t i = 0; has_backward && i < end; ++i) {
    Operator& op = block[i];
    if (!parts.runs.Has(op.name)) continue;
    op.recomputed = true;
    if (op.kind == OperatorKind::kMatmul) {
      op.recomputed_share = FreedShare(op, parts.frees, block);
    }
  }
  for (Operator& op : block) {
    op.saves.RemoveIf([&parts](const SavedTensor& saved) { return parts.frees.Has(saved.tensor); });
  }
}

}  // namespace meshwright::planner
