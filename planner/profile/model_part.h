// ModelPart names the parts of a model's blocks and ends, in addition to attention, FFN and
// RMSNorm, that a program may or may not have a layer for.
#pragma once

#include <cstdint>
#include <string_view>

#include "absl/status/statusor.h"
#include "planner/containers/enum_set.h"
#include "planner/spec/model_spec.h"

namespace meshwright::planner {

enum class ModelPart : uint8_t {
  kRotaryPositions,
  kPartialRotary,
  kLearnedPositions,
  kAlibi,
  kNoPositions,
  kRmsNorm,
  kLayerNorm,
  kPlainLayerNorm,  // with neither weight nor bias
  kEmbeddingNorm,
  kQkNormOverWidth,
  kParallelBlock,
  kNormBehind,
  kBiases,  // of attention's output and of the FFN
  kHeadBias,
  kExperts,
  kExpertsWithoutGate,  // whose activation is not SwiGLU
  kExpertBiases,        // of the experts' own products
  kClampedSwiGlu,
  kRouterBias,
  kExpertCapacity,  // experts drop tokens
  kSharedExpertGate,
  kLatentAttention,
  kQueriesWithoutLatent,  // of latent attention, projected from the hidden state
  kWideValues,            // of latent attention, wider than keys
  kSlidingWindow,
  kChunkedAttention,
  kSinks,
  kFurtherTokens,  // layers that predict tokens further ahead
};

EnumSet<ModelPart> PartsOf(const ModelSpec& model);

std::string_view ModelPartName(ModelPart part);
// InvalidArgument names what is accepted.
absl::StatusOr<ModelPart> ParseModelPart(std::string_view text);

}  // namespace meshwright::planner
