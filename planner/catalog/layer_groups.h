// Reads the layers of a config.json. Consecutive layers that are alike form a group.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "planner/catalog/architecture.h"
#include "planner/codec/json_fields.h"
#include "planner/spec/model_spec.h"

namespace meshwright::planner {

// Returns the layer groups of a canonical config (CanonicalConfig()), whose fields are `fields`,
// for sequences of `seq_len` tokens. A window at least as long as the sequence counts as none.
// Returns InvalidArgument, naming the key, if something cannot be modelled.
absl::StatusOr<std::vector<LayerGroup>> ReadLayerGroups(JsonFields& fields,
                                                        const nlohmann::json& config,
                                                        const Architecture& architecture,
                                                        int64_t hidden, int64_t seq_len);

}  // namespace meshwright::planner
