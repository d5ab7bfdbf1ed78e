// YamlText() writes names and values as YAML.
#pragma once

#include <string>
#include <vector>

#include "planner/interchange/name_table.h"

namespace meshwright::planner {

// Returns a line for each spelling. The dots of a name are maps in each other; names of one map
// must follow each other.
std::string YamlText(const std::vector<Spelling>& spellings);

}  // namespace meshwright::planner
