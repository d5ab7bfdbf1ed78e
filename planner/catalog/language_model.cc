#include "planner/catalog/language_model.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "base/text/bare_name.h"
#include "base/text/field_error.h"
#include "base/text/status_macros.h"
#include "planner/catalog/architecture_table.h"
#include "planner/catalog/key_rule.h"

namespace meshwright::planner {
namespace {

using nlohmann::json;

constexpr const char* kModelType = "model_type";
constexpr const char* kArchitectures = "architectures";

// A wrapper has these keys for its language model too.
constexpr const char* kOfTheWhole[] = {"tie_word_embeddings"};
constexpr const char* kInherited[] = {"vocab_size", "quantization_config"};

constexpr std::string_view kClassEndings[] = {"ForCausalLM", "ForConditionalGeneration",
                                              "LMHeadModel", "Model"};

// Returns the family of a class such as Qwen3MoeForCausalLM.
std::string TypeOfClass(std::string_view name) {
  for (const std::string_view ending : kClassEndings) {
    if (!name.ends_with(ending)) continue;
    name.remove_suffix(ending.size());
    break;
  }
  const std::string letters = BareName(name);
  const ArchitectureTable& table = Architectures();
  for (const auto& [type, entry] : table.planned) {
    if (BareName(type) == letters) return type;
  }
  for (const auto& [type, missing] : table.families) {
    if (BareName(type) == letters) return type;
  }
  return letters;
}

bool NamesItsFamily(const json& config) {
  return config.contains(kModelType) || config.contains(kArchitectures);
}

std::string GivenType(const json& config) {
  const auto type = config.find(kModelType);
  return type != config.end() && type->is_string() ? type->get<std::string>() : "";
}

// Returns the family of the class that the file names; "" if it names none.
std::string TypeOfGivenClass(const json& config) {
  const auto classes = config.find(kArchitectures);
  if (classes == config.end() || !classes->is_array() || classes->empty()) return "";
  const json& first = classes->front();
  return first.is_string() ? TypeOfClass(first.get<std::string>()) : "";
}

// The class tells the family where model_type is absent, or a name of the file's own.
absl::Status NameFamily(json& config) {
  const auto type = config.find(kModelType);
  const std::string of_class = TypeOfGivenClass(config);
  if (type != config.end() && !type->is_null()) {
    if (!type->is_string()) return FieldError(kModelType, ShownValue(*type), "must be a text");
    const auto name = type->get<std::string>();
    const bool is_known = PlannedEntry(name) != nullptr || Architectures().families.contains(name);
    if (!is_known && PlannedEntry(of_class) != nullptr) *type = of_class;
    return absl::OkStatus();
  }
  if (!of_class.empty()) {
    config[kModelType] = of_class;
    return absl::OkStatus();
  }
  return FieldError(kModelType, "(absent)",
                    "`architectures` does not name the model's family either; must be given");
}

// Returns the key of the object that holds the language model; "" if the config is one.
std::string InnerKey(const json& config) {
  for (const std::string& key : Architectures().language_models) {
    const auto inner = config.find(key);
    if (inner == config.end() || !inner->is_object() || inner->empty()) continue;
    // The texts of an encoder are no language model.
    const auto& families = Architectures().families;
    const bool stops =
        families.contains(GivenType(config)) && !families.contains(GivenType(*inner));
    return stops ? "" : key;
  }
  return "";
}

json InnerConfig(const json& wrapper, const std::string& key) {
  json inner = wrapper.at(key);
  if (!NamesItsFamily(inner)) {
    for (const char* name : {kModelType, kArchitectures}) {
      if (wrapper.contains(name)) inner[name] = wrapper.at(name);
    }
  }
  for (const char* name : kOfTheWhole) {
    if (wrapper.contains(name)) inner[name] = wrapper.at(name);
  }
  for (const char* name : kInherited) {
    if (wrapper.contains(name) && !inner.contains(name)) inner[name] = wrapper.at(name);
  }
  return inner;
}

void AddTowers(const json& config, std::vector<std::string>& towers) {
  for (const std::string& key : Architectures().towers) {
    const auto tower = config.find(key);
    if (tower != config.end() && !IsOff(*tower)) towers.push_back(key);
  }
}

// A size that is a list has a value for each modality, because the experts of other modalities
// stand beside the language model.
void AddExpertsOfModalities(const json& entry, const json& config,
                            std::vector<std::string>& towers) {
  for (const std::string key : entry.value("first_of", json::array())) {
    const auto sizes = config.find(key);
    if (sizes == config.end() || !sizes->is_array() || sizes->size() < 2) continue;
    towers.push_back(key + " of other modalities");
    return;
  }
}

}  // namespace

absl::StatusOr<LanguageModel> FindLanguageModel(json config) {
  LanguageModel found;
  AddTowers(config, found.towers);
  for (std::string key = InnerKey(config); !key.empty(); key = InnerKey(config)) {
    json inner = InnerConfig(config, key);
    found.wrappers.push_back(std::move(config));
    config = std::move(inner);
    AddTowers(config, found.towers);
  }
  RETURN_IF_ERROR(NameFamily(config));
  const json* entry = PlannedEntry(GivenType(config));
  if (entry != nullptr) AddExpertsOfModalities(*entry, config, found.towers);
  found.config = std::move(config);
  return found;
}

}  // namespace meshwright::planner
