// Finds the keys of a config.json that ask for the parts of its model.
#pragma once

#include "nlohmann/json.hpp"
#include "planner/spec/model_spec.h"

namespace meshwright::planner {

// Returns, for each part (KeyRow::parts) of the language model, the key of its config that asks for
// the part, as the file spells it.
FileKeys ReadFileKeys(const nlohmann::json& config);

}  // namespace meshwright::planner
