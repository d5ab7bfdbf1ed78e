// Reads the towers of a multimodal model's config.json.
#pragma once

#include <cstdint>
#include <vector>

#include "nlohmann/json.hpp"
#include "planner/spec/tower.h"

namespace meshwright::planner {

// Returns the towers of a wrapper that can be counted: the vision towers of Qwen2.5-VL, Qwen3-VL
// and Qwen3.5, Kimi K2.5, Gemma 3 (SigLIP), Gemma 4 and Mistral 3 (Pixtral). `hidden` is the hidden
// width of the language model. A tower of another kind, or one that lacks a key, is left out.
std::vector<Tower> ReadTowers(const nlohmann::json& wrapper, int64_t hidden);

}  // namespace meshwright::planner
