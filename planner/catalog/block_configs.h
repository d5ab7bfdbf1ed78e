// Reads the lists that give each layer a shape of its own: `block_configs` of Llama-Nemotron, or a
// list for each size (OpenELM, DeciLM).
#pragma once

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "planner/catalog/architecture.h"
#include "planner/codec/json_fields.h"
#include "planner/spec/model_spec.h"

namespace meshwright::planner {

// Returns whether a canonical config has such lists.
bool HasBlockConfigs(const nlohmann::json& config);

// Returns the layers that the lists describe, one group each. `fields` are those of the config.
// Returns InvalidArgument, naming the key, if a layer has something that cannot be modelled.
absl::StatusOr<std::vector<LayerGroup>> ReadBlockConfigs(JsonFields& fields,
                                                         const Architecture& architecture,
                                                         int64_t hidden, int64_t layers);

}  // namespace meshwright::planner
