// Reads the parts of each kind of tower besides its blocks, such as its projector.
#pragma once

#include <cstdint>

#include "nlohmann/json.hpp"
#include "planner/catalog/tower_fields.h"
#include "planner/spec/tower.h"

namespace meshwright::planner {

// Sets all of `tower` except the sizes of its blocks, which the caller has read. `fields` are those
// of the tower's object in `wrapper`; their is_readable() becomes false if the kind is not known or
// if a key is absent. `hidden` is the hidden width of the language model.
void ReadTowerKind(const nlohmann::json& wrapper, int64_t hidden, TowerFields& fields,
                   Tower& tower);

}  // namespace meshwright::planner
