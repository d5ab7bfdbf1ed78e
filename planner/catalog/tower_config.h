// Reads the towers of a multimodal model's config.json.
#pragma once

#include <cstdint>
#include <vector>

#include "nlohmann/json.hpp"
#include "planner/spec/tower.h"

namespace meshwright::planner {

// Returns the towers in the config of a multimodal model. `hidden` is the hidden width of the
// language model. A tower is left out if it is of a kind that ReadTowerKind() does not know, or if
// it lacks a key.
std::vector<Tower> ReadTowers(const nlohmann::json& wrapper, int64_t hidden);

}  // namespace meshwright::planner
