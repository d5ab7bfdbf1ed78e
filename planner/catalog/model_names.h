// Knows which preset a model's name stands for, however it is spelt.
//
// Case, and what stands between words, makes no difference: "Qwen2.5_7B", "qwen 2.5 7b" and
// "qwen2-5-7b" are one name. Nor does a last word that says how a model was trained, such as
// "Instruct". Other names of a preset's shape are in planner/data/model_names.json. Flags and rows
// of measurements go by the same names.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace meshwright::planner {

struct ModelName {
  std::string name;    // as the preset's file or the table spells it
  std::string preset;  // the preset whose shape it has
};

// Returns the preset that the name stands for, or nullopt if there is none. A name with an
// organisation before it, as on the Hub, is no name of a preset.
std::optional<ModelName> ModelNamed(std::string_view name);

// Does the same for what a row of measurements calls its model. An organisation before the name
// makes no difference here, nor does how many layers of the model a run used ("-proxy-8L"), which
// columns of the row say.
std::optional<ModelName> ModelOfRow(std::string_view name);

// Returns the names that stand for the preset's file beside its own.
std::vector<std::string> OtherNamesOf(std::string_view preset);

}  // namespace meshwright::planner
