// Reads keys that override sizes of single layers of a model.
#pragma once

#include <vector>

#include "absl/status/status.h"
#include "planner/codec/json_fields.h"
#include "planner/spec/model_spec.h"

namespace meshwright::planner {

// Applies `per_layer_config`, which transformers 5 writes: an object with the sizes of single
// layers, keyed by the layer's number, from 0. Also applies `num_attention_heads_per_layer`
// (Laguna). `attentions` and `ffns` have an item for each layer. Returns InvalidArgument, with the
// key, its value and what is accepted, if one of these keys has any other contents.
absl::Status ApplyLayerOverrides(JsonFields& fields, std::vector<Attention>& attentions,
                                 std::vector<Ffn>& ffns);

}  // namespace meshwright::planner
