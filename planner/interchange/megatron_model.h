// Writes a model as flags of Megatron-LM's pretrain_gpt.py, or of its pretrain_hybrid.py.
//
// Layers may differ only in (1) whether they have experts, (2) whether attention has a window and
// (3) whether attention rotates queries and keys. For each of these, Megatron-LM takes a list with
// a flag for each layer. For the layers of a hybrid it takes a pattern
// (planner/interchange/megatron_hybrid.h).
#pragma once

#include <cstdint>

#include "absl/status/status.h"
#include "planner/containers/enum_set.h"
#include "planner/interchange/megatron_script.h"
#include "planner/profile/model_part.h"
#include "planner/spec/model_spec.h"

namespace meshwright::planner {

// The parts that AddModel() has flags for. Biases must be on all linear layers, on the QKV
// projections alone, or on none.
inline constexpr EnumSet<ModelPart> kMegatronParts = {ModelPart::kRotaryPositions,
                                                      ModelPart::kPartialRotary,
                                                      ModelPart::kRmsNorm,
                                                      ModelPart::kExperts,
                                                      ModelPart::kExpertCapacity,
                                                      ModelPart::kSharedExpertGate,
                                                      ModelPart::kBiases,
                                                      ModelPart::kExpertBiases,
                                                      ModelPart::kRouterBias,
                                                      ModelPart::kClampedSwiGlu,
                                                      ModelPart::kSinks,
                                                      ModelPart::kLatentAttention,
                                                      ModelPart::kQueriesWithoutLatent,
                                                      ModelPart::kWideValues,
                                                      ModelPart::kSlidingWindow,
                                                      ModelPart::kFurtherTokens,
                                                      ModelPart::kNoPositions,
                                                      ModelPart::kExpertsWithoutGate,
                                                      ModelPart::kGatedDelta,
                                                      ModelPart::kMamba2,
                                                      ModelPart::kSingleParts,
                                                      ModelPart::kAttentionGate,
                                                      ModelPart::kSparseIndex,
                                                      ModelPart::kExpertLatent};

// The kinds of FFNs that AddModel() has flags for.
inline constexpr EnumSet<FfnKind> kMegatronFfns = {FfnKind::kSwiGlu, FfnKind::kGelu,
                                                   FfnKind::kReluSquared};

// Appends the model's flags, for sequences of `seq_len` tokens. Returns InvalidArgument if
// Megatron-LM has no flags for the model. The error names the key of the model's config, its value
// and what Megatron-LM accepts.
// REQUIRES: Validate() accepts the model, and its parts are among kMegatronParts.
absl::Status AddModel(const ModelSpec& model, int64_t seq_len, MegatronScript& script);

}  // namespace meshwright::planner
