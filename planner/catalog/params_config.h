// Converts a params.json to the config.json of the same model. The reference code of Llama and of
// Mistral keeps a model's sizes in a params.json.
//
// Both files have the keys dim, n_layers, n_heads, n_kv_heads, head_dim, vocab_size, norm_eps and
// rope_theta. Mistral's file gives the FFN's width as hidden_dim. Llama computes the width from dim
// (meta-llama/llama3, model.py): two thirds of 4 dim, times ffn_dim_multiplier, with both results
// rounded down, and then rounded up to a multiple of multiple_of.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace meshwright::planner {

struct ParamsConfig {
  std::string config_json;         // the text of a config.json
  std::vector<std::string> notes;  // facts that params.json lacks, and parts that are not planned
};

// Returns whether the text is a JSON object with keys that only a params.json has.
bool IsParams(std::string_view text);

// Returns the config.json of the same model. Returns InvalidArgument, with the key and its value,
// if a size is missing or out of range, or if a key asks for a part that can't be planned from this
// file.
absl::StatusOr<ParamsConfig> ConfigOfParams(std::string_view text);

}  // namespace meshwright::planner
