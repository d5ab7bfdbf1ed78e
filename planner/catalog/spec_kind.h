// Says what a file or a name describes where it was given for something else.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace meshwright::planner {

// Kinds are named like the fields of a request that hold them: "model", "cluster" and "framework".

// Returns what the JSON text of a file describes, by keys that only one kind has; empty where no
// kind stands out.
std::string_view KindOfText(std::string_view text);

// Returns what a preset of this name describes; empty where there is none.
std::string_view KindOfPreset(std::string_view name);

// Returns the preset of a kind that `name` means, ignoring case; empty where there is none.
std::string PresetNamed(std::string_view kind, std::string_view name);

// Returns the names of the presets of a kind.
std::vector<std::string> PresetsOf(std::string_view kind);

}  // namespace meshwright::planner
