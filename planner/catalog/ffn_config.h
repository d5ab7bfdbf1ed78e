// Reads the FFNs of a config.json's layers: their widths, and which of them consist of experts.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "planner/catalog/architecture.h"
#include "planner/catalog/layer_mixers.h"
#include "planner/codec/json_fields.h"
#include "planner/spec/model_spec.h"

namespace meshwright::planner {

// Returns the FFN of each of `layers.size()` layers of a canonical config (CanonicalConfig()),
// whose fields are `fields`. A layer without an FFN gets kNoFfn.
absl::StatusOr<std::vector<Ffn>> ReadFfns(JsonFields& fields, const nlohmann::json& config,
                                          const Architecture& architecture, int64_t hidden,
                                          const std::vector<LayerParts>& layers);

}  // namespace meshwright::planner
