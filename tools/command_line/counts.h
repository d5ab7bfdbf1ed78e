// TakeCount() lets a flag take a count in the forms that users type: 8192, 8k, 4M, 2e6.
#pragma once

#include <string>

#include "CLI/CLI.hpp"

namespace meshwright::command_line {

// Returns the digits of a count that is written with k or K (1,024), M (1,048,576) or an exponent.
// Returns other texts, and counts that are not whole, unchanged.
std::string CountDigits(const std::string& typed);

// Lets `option`, which takes a whole number, take all forms of a count. Returns `option`.
CLI::Option* TakeCount(CLI::Option* option);

}  // namespace meshwright::command_line
