// Knows which profile a framework's name stands for, such as "trl" for hf-fsdp2, and which program
// a profile describes. Both are in planner/data/profile_names.json.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace meshwright::planner {

// Returns the profile that the name stands for, or an empty text if there is none. Case does not
// matter, nor whether words are divided by a hyphen, an underscore or a blank. A profile's own
// name, spelt as it is, stands for nothing else.
std::string ProfileNamed(std::string_view name);

// Returns the names that stand for the profile beside its own.
std::vector<std::string> OtherNamesOfProfile(std::string_view profile);

// Returns which program a preset describes, in a few words, or an empty text if it is no preset.
std::string FrameworkOfProfile(std::string_view profile);

}  // namespace meshwright::planner
