// Finds the language model in a config.json. The file of a multimodal model keeps the language
// model in one object and the towers in others.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "nlohmann/json.hpp"

namespace meshwright::planner {

struct LanguageModel {
  nlohmann::json config;                 // has a model_type
  std::vector<std::string> towers;       // keys that hold or name a tower
  std::vector<nlohmann::json> wrappers;  // the objects around it, the outermost first
};

// Returns the innermost language model of `config`. If no model_type names the family, the key
// `architectures` does. Returns InvalidArgument about model_type if neither key names the family.
absl::StatusOr<LanguageModel> FindLanguageModel(nlohmann::json config);

}  // namespace meshwright::planner
