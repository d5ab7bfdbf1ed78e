// Reads the towers of a multimodal model's config.json.
#pragma once

#include <cstdint>
#include <vector>

#include "nlohmann/json.hpp"
#include "planner/spec/tower.h"

namespace meshwright::planner {

// Returns the towers of a wrapper that can be counted (ReadTowerKind()). `hidden` is the hidden
// width of the language model. A tower of another kind, or one that lacks a key, is left out.
std::vector<Tower> ReadTowers(const nlohmann::json& wrapper, int64_t hidden);

}  // namespace meshwright::planner
