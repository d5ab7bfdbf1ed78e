// Reads `block_configs`: the list by which Llama-Nemotron gives each layer a shape of its own.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "planner/catalog/architecture.h"
#include "planner/codec/json_fields.h"
#include "planner/spec/model_spec.h"

namespace meshwright::planner {

bool HasBlockConfigs(const nlohmann::json& config);

// Returns the layers that the list describes, one group each. `fields` are those of the config.
// Returns InvalidArgument, naming the key, if a block has something that cannot be modelled.
absl::StatusOr<std::vector<LayerGroup>> ReadBlockConfigs(JsonFields& fields,
                                                         const Architecture& architecture,
                                                         int64_t hidden, int64_t layers);

}  // namespace meshwright::planner
