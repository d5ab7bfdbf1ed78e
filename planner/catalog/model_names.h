// Maps the name of a model, however it is spelt, to a preset.
//
// Neither case nor the characters between words make a difference: "Qwen2.5_7B", "qwen 2.5 7b" and
// "qwen2-5-7b" are one name. A last word that says how a model was trained, such as "Instruct",
// makes no difference either. Names of further models with the shape of a preset are in
// planner/data/model_names.json. Flags and rows of measurements use the same names.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace meshwright::planner {

struct ModelName {
  std::string name;    // the name as the preset's file or the table spells it
  std::string preset;  // the preset whose shape it has
};

// Returns the preset that the name stands for, or nullopt if there is none. A name that begins with
// an organisation, as on the Hub, stands for no preset.
std::optional<ModelName> ModelNamed(std::string_view name);

// Does the same for the name of a model in a row of measurements. Here an organisation at the
// beginning makes no difference. A suffix such as "-proxy-8L" makes no difference either: it says
// how many layers of the model a run used, and columns of the row give that number.
std::optional<ModelName> ModelOfRow(std::string_view name);

// Returns all names of the preset's file except its own.
std::vector<std::string> OtherNamesOf(std::string_view preset);

}  // namespace meshwright::planner
