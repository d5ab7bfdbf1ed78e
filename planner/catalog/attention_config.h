// Reads the attention of a config.json's layers.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "planner/catalog/architecture.h"
#include "planner/catalog/layer_mixers.h"
#include "planner/catalog/layer_windows.h"
#include "planner/codec/json_fields.h"
#include "planner/spec/model_spec.h"

namespace meshwright::planner {

// Returns the attention of each of `layers.size()` layers of a canonical config
// (CanonicalConfig()), whose fields are `fields`, for sequences of `seq_len` tokens. A window at
// least as long as the sequence counts as none. A layer without attention gets kNoAttention.
absl::StatusOr<std::vector<Attention>> ReadAttentions(JsonFields& fields,
                                                      const nlohmann::json& config,
                                                      const Architecture& architecture,
                                                      int64_t hidden, int64_t seq_len,
                                                      const std::vector<LayerParts>& layers);

// Returns the number of layers that use the keys and values of an earlier layer. They are the last
// of the model's `layers` layers.
absl::StatusOr<int64_t> ReadSharingLayers(JsonFields& fields, int64_t layers);

}  // namespace meshwright::planner
