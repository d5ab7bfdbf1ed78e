// Brings the keys of a config.json into the form of Llama's config.json.
#pragma once

#include "nlohmann/json.hpp"

namespace meshwright::planner {

// Returns the config of a language model (FindLanguageModel()) in Llama's terms. Keys that have
// other names in one or several families get Llama's names, absent keys get the family's defaults,
// and keys that the family ignores are removed. `is_inside` says whether the config is nested in a
// multimodal model's config, in which sizes have defaults too.
nlohmann::json CanonicalConfig(nlohmann::json config, bool is_inside);

}  // namespace meshwright::planner
