// Reads what each layer of a config.json holds: attention, a recurrence, an FFN, or several of
// these.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "planner/catalog/architecture.h"
#include "planner/codec/json_fields.h"

namespace meshwright::planner {

struct LayerParts {
  bool attention = true;
  bool recurrence = false;
  bool ffn = true;
  // For Nemotron-H, true if the list of layers says that the layer's FFN consists of experts. Files
  // of other families state this by other keys.
  bool is_expert_layer = false;
  bool is_indexed = true;  // whether its attention is sparse if the file has an index
};

// Returns whether the list of layers says which FFNs consist of experts.
bool SaysWhichHaveExperts(const std::vector<LayerParts>& layers);

// Returns the number of layers of a canonical config (CanonicalConfig()): `num_hidden_layers`, or
// the length of a list that names the kind of each layer.
absl::StatusOr<int64_t> ReadLayerCount(JsonFields& fields, const nlohmann::json& config);

// Returns the parts of each of `layers` layers of a canonical config, whose fields are `fields`.
// Returns InvalidArgument, naming the key, if a layer is of a kind that this family does not have,
// or if the family has a recurrence and no key says which layers have it.
absl::StatusOr<std::vector<LayerParts>> ReadLayerParts(JsonFields& fields,
                                                       const nlohmann::json& config,
                                                       const Architecture& architecture,
                                                       int64_t layers);

}  // namespace meshwright::planner
