// Reads which layers of a config.json see only a part of the sequence.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "planner/catalog/architecture.h"
#include "planner/codec/json_fields.h"

namespace meshwright::planner {

// The largest number of layers in a readable model file. No known model has nearly as many layers.
// The limit keeps a file from making the planner allocate more memory than there is.
inline constexpr int64_t kMostLayers = 1 << 14;

// The keys that a layer's queries see: the newest `tokens` keys, or the keys of the query's own
// chunk. 0: all keys.
struct LayerWindow {
  int64_t tokens = 0;
  bool chunked = false;
  bool is_local = false;  // whether it has a window at all, even one as long as the sequence
};

// Returns the window of each of `layers` layers of a canonical config (CanonicalConfig()), whose
// fields are `fields`, for sequences of `seq_len` tokens.
absl::StatusOr<std::vector<LayerWindow>> ReadLayerWindows(JsonFields& fields,
                                                          const nlohmann::json& config,
                                                          const Architecture& architecture,
                                                          int64_t layers, int64_t seq_len);

}  // namespace meshwright::planner
