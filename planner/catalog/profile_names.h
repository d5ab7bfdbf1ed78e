// Maps names of frameworks to profiles, such as "trl" to hf-fsdp2, and profiles to the programs
// that they describe. Both maps are in planner/data/profile_names.json.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace meshwright::planner {

// Returns the profile that the name stands for, or an empty text if there is none. Case does not
// matter, nor whether words are separated by a hyphen, an underscore or a blank. The result is also
// empty for a profile's own name in its exact spelling.
std::string ProfileNamed(std::string_view name);

// Returns all names of the profile except its own.
std::vector<std::string> OtherNamesOfProfile(std::string_view profile);

// Returns a few words that say which program the preset `profile` describes, or an empty text if
// there is no such preset.
std::string FrameworkOfProfile(std::string_view profile);

}  // namespace meshwright::planner
