// BareName() makes names comparable that people write with or without punctuation between words.
#pragma once

#include <string>
#include <string_view>

namespace meshwright {

// Returns the name's letters and digits in lower case: qwen3moe for both Qwen3-MoE and qwen3_moe.
std::string BareName(std::string_view name);

}  // namespace meshwright
