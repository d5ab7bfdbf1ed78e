// Knows which profile a framework's name stands for, such as "trl" for hf-fsdp2. The names are in
// planner/data/profile_names.json.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace meshwright::planner {

// Returns the profile that the name stands for, whatever its case, or an empty text if there is
// none. A profile's own name is not among them.
std::string ProfileNamed(std::string_view name);

// Returns the names that stand for the profile beside its own.
std::vector<std::string> OtherNamesOfProfile(std::string_view profile);

}  // namespace meshwright::planner
