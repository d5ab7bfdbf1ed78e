// Writes a model as flags of Megatron-LM's pretrain_gpt.py.
//
// Layers may differ only in whether they have experts and in whether attention has a window. For
// these two differences Megatron-LM takes a list of layers.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "planner/containers/enum_set.h"
#include "planner/profile/model_part.h"
#include "planner/spec/model_spec.h"

namespace meshwright::planner {

// The contents of a script that starts Megatron-LM: lines of flags, and the comments above them.
struct MegatronScript {
  std::vector<std::string> comments;
  std::vector<std::string> flags;
};

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
                                                      ModelPart::kFurtherTokens};

// Appends the model's flags, for sequences of `seq_len` tokens. Returns InvalidArgument if
// Megatron-LM has no flags for the model. The error names the key of the model's config, its value
// and what Megatron-LM accepts.
// REQUIRES: Validate() accepts the model, and its parts are among kMegatronParts.
absl::Status AddModel(const ModelSpec& model, int64_t seq_len, MegatronScript& script);

}  // namespace meshwright::planner
