// Recognises the kind of spec that a file or a name describes, for errors about a spec of the wrong
// kind.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace meshwright::planner {

// Kinds are named like the fields of a request that hold them: "model", "cluster" and "framework".

// Returns the kind that the JSON text of a file describes, by keys that only one kind has. The
// result is empty if the text has none of these keys.
std::string_view KindOfText(std::string_view text);

// Returns the kind of the preset with this name, or an empty text if there is none.
std::string_view KindOfPreset(std::string_view name);

// Returns the name of the preset of a kind that equals `name` except for case, or an empty text if
// there is none.
std::string PresetNamed(std::string_view kind, std::string_view name);

// Returns the names of the presets of a kind.
std::vector<std::string> PresetsOf(std::string_view kind);

}  // namespace meshwright::planner
