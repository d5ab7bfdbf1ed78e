// Compares names that people write with or without signs between their words.
#pragma once

#include <string>
#include <string_view>

namespace meshwright {

// Returns the name's letters and digits in lower case: qwen3moe of Qwen3-MoE and qwen3_moe.
std::string BareName(std::string_view name);

}  // namespace meshwright
