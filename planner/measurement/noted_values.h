// Finds values that a row's notes give as NAME=VALUE. Remarks in notes are separated by ';', and
// words by blanks.
#pragma once

#include <string_view>
#include <vector>

namespace meshwright::planner {

// Returns the values of all words that begin with `name` and '=', in their order. A value ends
// before the next ';' or blank.
std::vector<std::string_view> NotedValues(std::string_view notes, std::string_view name);

}  // namespace meshwright::planner
