// ModelPart names the parts of a model's blocks and ends that some programs have no layer for.
// Plain attention and plain FFNs are no ModelPart.
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
  kPlainLayerNorm,  // LayerNorm with neither weight nor bias
  kEmbeddingNorm,
  kQkNormOverWidth,
  kParallelBlock,
  kNormBehind,     // norms after attention and after the FFN
  kSandwichNorms,  // norms before and after both attention and the FFN
  kBiases,         // biases of attention's output and of the FFN
  kHeadBias,
  kExperts,
  kExpertsWithoutGate,  // experts whose activation is not SwiGLU
  kExpertBiases,        // biases of the experts' own products
  kClampedSwiGlu,
  kRouterBias,
  kExpertCapacity,  // experts drop tokens
  kSharedExpertGate,
  kLatentAttention,
  kQueriesWithoutLatent,  // latent attention with queries projected from the hidden state
  kWideValues,            // latent attention with values wider than keys
  kOtherValueWidth,       // grouped-query attention with values not as wide as keys
  kSlidingWindow,
  kChunkedAttention,
  kSinks,
  kFurtherTokens,  // multi-token-prediction (MTP) layers
  kGatedDelta,     // this and the next six are kinds of recurrences
  kKimiDelta,
  kMamba2,
  kMamba1,
  kLightning,
  kShortConvolution,
  kRgLru,
  kSingleParts,    // layers with a mixer alone or an FFN alone
  kAttentionGate,  // a gate as wide as the queries
  kSparseIndex,
  kCompressedAttention,
  kSharedKeys,       // layers that reuse keys and values of an earlier layer
  kValuesAreKeys,    // keys serve as values
  kExpertLatent,     // experts that work on a latent
  kResidualStreams,  // hyper-connections, AltUp
  kTower,            // an encoder of images
  kLayerInputs,      // an embedding for each layer
  kHeadGate,         // a gate of each head's result
  kParallelMixers,   // attention and a recurrence on the same input
  kSharedBlocks,     // a block whose weights several layers share
  kLaurel,           // a low-rank residual beside attention
  kRelativeScores,   // scores that depend on the distance of the key
  kKeyConvolutions,  // convolutions of queries, keys or values over tokens
  kNormGate,         // a gate of a norm's result
  kRouterLayers,     // a router of several products
};

// Returns the parts that the model has.
EnumSet<ModelPart> PartsOf(const ModelSpec& model);

std::string_view ModelPartName(ModelPart part);
// Returns InvalidArgument, which names what is accepted, if no part has this name.
absl::StatusOr<ModelPart> ParseModelPart(std::string_view text);

}  // namespace meshwright::planner
