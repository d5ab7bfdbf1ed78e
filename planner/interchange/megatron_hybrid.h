// Writes a hybrid as the layer pattern of Megatron-LM's pretrain_hybrid.py
// (megatron/core/models/hybrid/hybrid_layer_allocation.py). In a hybrid, layers have recurrences,
// or only a mixer, or only an FFN.
//
// Each letter is a layer of Megatron-LM: M Mamba-2, G gated delta net, * attention, - FFN, E
// experts.
//  ends a pipeline stage, and / begins the multi-token-prediction layers.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "planner/interchange/megatron_script.h"
#include "planner/interchange/settings.h"
#include "planner/layout/layout.h"
#include "planner/spec/model_spec.h"

namespace meshwright::planner {

bool IsHybrid(const ModelSpec& model);

// Returns the pattern, divided into the layout's stages.
// REQUIRES: IsHybrid(), and the model's parts are among kMegatronParts.
std::string HybridPattern(const ModelSpec& model, const Layout& layout);

// Returns how many layers of Megatron-LM make one layer of the model; nullopt if the number differs
// between layers.
std::optional<int64_t> MegatronLayersEach(const ModelSpec& model);

// Appends the flags of the recurrences. Returns InvalidArgument, which names the key of the model's
// config, if Megatron-LM has no flags for them.
absl::Status AddRecurrence(const ModelSpec& model, const Recurrence& recurrence,
                           MegatronScript& script);

// Turns the bars of a pattern into chunks, after an import. Returns InvalidArgument about
// `hybrid_pattern` for an unknown letter, or for stages of different numbers of layers.
absl::Status ResolveHybrid(Settings& settings);

}  // namespace meshwright::planner
