// Writes a hybrid as the layer pattern of Megatron-LM's pretrain_hybrid.py
// (megatron/core/models/hybrid/hybrid_layer_allocation.py). A hybrid has layers with a recurrence,
// with only a mixer, or with only an FFN.
//
// Each letter is a layer of Megatron-LM: M is Mamba-2, G a gated delta net, * attention, - an FFN,
// and E an FFN with experts. The sign | separates pipeline stages, and / begins a
// multi-token-prediction layer.
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

// Returns the pattern, divided into the layout's stages if CanPartition() accepts the layout under
// StagePartition::kEqual.
// REQUIRES: IsHybrid(), and the model's parts are among kMegatronParts.
std::string HybridPattern(const ModelSpec& model, const Layout& layout);

// Returns the number of layers of Megatron-LM that make one layer of the model; nullopt if the
// number differs between layers.
std::optional<int64_t> MegatronLayersEach(const ModelSpec& model);

// Appends the flags of the recurrences. Returns InvalidArgument, which names the key of the model's
// config, if Megatron-LM has no flags for them.
absl::Status AddRecurrence(const ModelSpec& model, const Recurrence& recurrence,
                           MegatronScript& script);

// After an import, sets vpp= from the number of stages in a pattern. Returns InvalidArgument about
// `hybrid_pattern` if it has an unknown letter, if its stages differ in their numbers of layers, or
// if the number of stages is not a multiple of pp.
absl::Status ResolveHybrid(Settings& settings);

}  // namespace meshwright::planner
