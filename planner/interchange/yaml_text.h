// YamlText() writes names and values as YAML.
#pragma once

#include <string>
#include <vector>

#include "planner/interchange/name_table.h"

namespace meshwright::planner {

// Returns a line for each spelling. The dots in a name separate the keys of nested maps; the names
// of one map must be consecutive.
std::string YamlText(const std::vector<Spelling>& spellings);

}  // namespace meshwright::planner
