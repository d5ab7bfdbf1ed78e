// Finds the keys of a config.json that ask for the parts of its model.
#pragma once

#include "nlohmann/json.hpp"
#include "planner/spec/model_spec.h"

namespace meshwright::planner {

// Returns which keys of the language model's config, as its file spells them, ask for which parts
// (KeyRow::parts).
FileKeys ReadFileKeys(const nlohmann::json& config);

}  // namespace meshwright::planner
