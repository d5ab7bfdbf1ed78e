// RunOptions holds the options of a run that change its framework's defaults. The table of
// planner/spec/run_option_table.h names the options.
#pragma once

#include <cstdint>

#include "planner/spec/trained_parts.h"

namespace meshwright::planner {

// The number format of a per-parameter value, such as a gradient or an optimizer moment.
enum class StateFormat : uint8_t {
  kDefault,  // the framework's format for the training's precision
  kNone,     // the value is not held; allowed only for the master weights
  kFp32,
  kBf16,
  kFp16,
  kFp8,
  kInt8  // with an fp32 scale for each 256 values (Dettmers et al., arXiv 2110.02861)
};

// Returns the bytes of one value. REQUIRES: the format is not kDefault.
constexpr double BytesOf(StateFormat format) {
  switch (format) {
    case StateFormat::kFp32:
      return 4.0;
    case StateFormat::kBf16:
    case StateFormat::kFp16:
      return 2.0;
    case StateFormat::kFp8:
      return 1.0;
    case StateFormat::kInt8:
      return 1.0 + 4.0 / 256.0;
    case StateFormat::kDefault:
    case StateFormat::kNone:
      break;
  }
  return 0.0;
}

// Formats of the values that bf16 training holds for each parameter in addition to the weight.
struct StateFormats {
  StateFormat master = StateFormat::kDefault;
  StateFormat gradient = StateFormat::kDefault;
  StateFormat first_moment = StateFormat::kDefault;
  StateFormat second_moment = StateFormat::kDefault;

  friend bool operator==(const StateFormats&, const StateFormats&) = default;
};

// Options that select another profile of the same framework (planner/catalog/profile_variants.h).
// kDefault is the framework's own choice.
enum class Compile : uint8_t { kDefault, kOn, kOff };
// The part of a step that CUDA graphs capture.
enum class CudaGraphs : uint8_t { kDefault, kNone, kAttention, kLayer, kIteration };
// The library or collective that sends tokens to their experts.
enum class Dispatcher : uint8_t { kDefault, kAllToAll, kAllGather, kDeepEp, kHybridEp };

// Whether ZeRO divides the states of experts over the ranks that hold the same experts, or leaves a
// whole copy on each of these ranks.
enum class ExpertStates : uint8_t { kSharded, kReplicated };

struct RunOptions {
  StateFormats states = {};
  // The number of chunks of tokens. The head's product, the loss and their gradients are computed
  // chunk by chunk. 1: the framework's own loss, over all tokens at once; 0: the number of chunks
  // that a fused linear cross entropy uses (LossChunks()).
  int32_t loss_chunks = 1;
  // The mean length in tokens of the documents that a sequence is packed from. A token attends only
  // to its own document. 0: a sequence is one document.
  int64_t document_tokens = 0;
  // If true, a sequence is one document, of document_tokens tokens on average (0: not known), and
  // padding. Padding costs as much as other tokens.
  bool pads_documents = false;
  Compile compile = Compile::kDefault;  // whether PyTorch compiles the layers
  CudaGraphs cuda_graphs = CudaGraphs::kDefault;
  Dispatcher dispatcher = Dispatcher::kDefault;
  ExpertStates experts = ExpertStates::kSharded;
  TrainedParts train = {};

  friend bool operator==(const RunOptions&, const RunOptions&) = default;
};

// Returns the number of chunks of tokens in which the loss is computed. A fused linear cross
// entropy chooses it so that the logits of one chunk are about as large as the hidden states of all
// tokens (Liger, arXiv 2410.10989).
constexpr int64_t LossChunks(const RunOptions& options, int64_t vocab, int64_t hidden) {
  return options.loss_chunks > 0 ? options.loss_chunks : (vocab + hidden - 1) / hidden;
}

// Returns the mean length of the documents to which attention is limited; 0 if a token attends to
// its whole sequence.
constexpr int64_t AttendedDocumentTokens(const RunOptions& options) {
  return options.pads_documents ? 0 : options.document_tokens;
}

}  // namespace meshwright::planner
