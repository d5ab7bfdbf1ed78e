#include "planner/catalog/canonical_config.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "planner/catalog/architecture_table.h"
#include "planner/catalog/key_rule.h"

namespace meshwright::planner {
namespace {

using nlohmann::json;

constexpr const char* kSizesByLayer[] = {"intermediate_size", "moe_intermediate_size",
                                         "num_experts_per_tok", "n_shared_experts"};
constexpr int64_t kMostSplit = int64_t{1} << 13;  // layers, or experts
constexpr const char* kKeyHeads = "num_key_value_heads";
constexpr const char* kModelSizes[] = {"hidden_size", "num_hidden_layers", "num_attention_heads",
                                       "intermediate_size", "vocab_size"};

void Flatten(const json& entry, json& config) {
  for (const std::string name : entry.value("flatten", json::array())) {
    const auto inner = config.find(name);
    if (inner == config.end() || !inner->is_object()) continue;
    const json object = *inner;
    config.erase(name);
    for (const auto& [key, value] : object.items()) config.emplace(key, value);
  }
}

// Kimi Linear keeps the sizes of its recurrent layers in a separate object. Step does the same for
// its layers with a window.
void LiftSizes(json& config) {
  const json lifted = Architectures().lifted;
  for (const auto& [name, keys] : lifted.items()) {
    const auto inner = config.find(name);
    if (inner == config.end() || !inner->is_object()) continue;
    const json object = *inner;
    config.erase(name);
    for (const auto& [key, value] : object.items()) {
      config.emplace(keys.value(key, key), value);
    }
  }
}

// Step's lists also have an item for each multi-token-prediction layer. They have one rope base per
// layer; the first base belongs to layers that see the whole sequence.
void DropFurtherLayers(json& config) {
  const auto base = config.find("rope_theta");
  if (base != config.end() && base->is_array() && !base->empty()) {
    const json bases = *base;
    config["rope_theta"] = bases.front();
    config["layer_rope_theta"] = bases;
  }
  const auto layers = config.find("num_hidden_layers");
  const auto further = config.find("num_nextn_predict_layers");
  const auto types = config.find("layer_types");
  if (layers == config.end() || further == config.end() || types == config.end()) return;
  if (!layers->is_number_unsigned() || !further->is_number_unsigned() || !types->is_array()) return;
  const auto count = layers->get<size_t>();
  if (types->size() <= count || types->size() - count != further->get<size_t>()) return;
  types->erase(types->begin() + static_cast<std::ptrdiff_t>(count), types->end());
}

// Mamba's sizes may be left to its code.
void DropAutomaticSizes(json& config) {
  for (const char* key : {"mamba_d_head", "mamba_dt_rank", "time_step_rank"}) {
    const auto value = config.find(key);
    if (value != config.end() && *value == "auto") config.erase(value);
  }
}

// If a key has a value for each modality, the first value belongs to text.
void KeepTextAlone(const json& entry, json& config) {
  for (const std::string key : entry.value("first_of", json::array())) {
    const auto value = config.find(key);
    if (value == config.end() || !value->is_array() || value->empty()) continue;
    const json first = value->front();
    *value = first;
  }
}

// Transformers 5 names the attention of each of DeepSeek-V4's layers, and says what a key of each
// kind stands for; the model's own file has that number for each layer.
void ListRatios(json& config) {
  const auto rates = config.find("compress_rates");
  const auto types = config.find("layer_types");
  if (rates == config.end() || !rates->is_object()) return;
  if (types == config.end() || !types->is_array()) return;
  json ratios = json::array();
  for (const json& type : *types) {
    const bool is_named = type.is_string() && rates->contains(type.get<std::string>());
    if (!is_named && type != "sliding_attention") return;  // the reader refuses the list
    ratios.push_back(is_named ? rates->at(type.get<std::string>()) : json(0));
  }
  config.emplace("compress_ratios", std::move(ratios));
  config.erase("compress_rates");
  config.erase("layer_types");
}

// Families have names of their own for the usual kinds of layers.
void RenameKinds(const json& entry, json& config) {
  const json names = entry.value("type_names", json::object());
  if (names.empty()) return;
  const auto types = config.find("layer_types");
  if (types != config.end() && types->is_array()) {
    for (json& type : *types) {
      if (type.is_string()) type = names.value(type.get<std::string>(), type);
    }
  }
  const auto rope = config.find("rope_parameters");
  if (rope == config.end() || !rope->is_object()) return;
  json renamed = json::object();
  for (const auto& [key, value] : rope->items()) renamed[names.value(key, key)] = value;
  *rope = std::move(renamed);
}

bool Divides(const json& part, const json& whole) {
  if (!part.is_number_unsigned() || !whole.is_number_unsigned()) return false;
  const auto parts = part.get<uint64_t>();
  return parts > 0 && whole.get<uint64_t>() % parts == 0;
}

// A file that describes only the language model has to state the model's sizes. Inside a wrapper,
// the class's default sizes may be left out.
void AddClassDefaults(const std::string& type, bool is_inside, json& config) {
  const json& all = Architectures().class_defaults;
  const auto defaults = all.find(type);
  if (defaults == all.end()) return;
  for (const auto& [key, value] : defaults->items()) {
    const bool is_size =
        std::find(std::begin(kModelSizes), std::end(kModelSizes), key) != std::end(kModelSizes);
    if (is_size && !is_inside) continue;
    if (key == kKeyHeads && !Divides(value, config.value("num_attention_heads", json()))) continue;
    config.emplace(key, value);
  }
}

// A layer of LongCat-Flash is two: attention with an FFN and, beside it, the experts, whose result
// is added behind the second half; and attention with an FFN. Some of the experts that a token
// picks have no parameters; each token is assumed to pick the average number of experts with
// parameters.
void SplitLayers(json& config) {
  const auto number = [&config](const char* key) -> int64_t {
    const auto value = config.find(key);
    const bool is_size = value != config.end() && value->is_number_unsigned();
    return is_size && *value <= kMostSplit ? value->get<int64_t>() : 0;
  };
  const int64_t layers = number("num_hidden_layers");
  const int64_t experts = number("num_experts");
  const int64_t picked = number("num_experts_per_tok");
  if (layers > 0) {
    json with_experts = json::array();
    for (int64_t layer = 0; layer < layers; ++layer) with_experts.push_back(2 * layer);
    config["num_hidden_layers"] = 2 * layers;
    config["moe_layers"] = std::move(with_experts);
  }
  const int64_t all = experts + number("zero_expert_num");
  if (picked > 0 && experts > 0) {
    config["num_experts_per_tok"] = std::max<int64_t>(1, (picked * experts + all / 2) / all);
  }
  config.erase("zero_expert_num");
}

// A size that is a list of equal numbers, one for each layer, is that number.
void MergeEqualSizes(json& config) {
  for (const char* key : kSizesByLayer) {
    const auto list = config.find(key);
    if (list == config.end() || !list->is_array() || list->empty()) continue;
    const json first = list->front();
    const bool is_same =
        std::all_of(list->begin(), list->end(), [&](const json& size) { return size == first; });
    if (is_same && first.is_number()) *list = first;
  }
}

// A name whose value is null counts as absent.
void Rename(const std::map<std::string, std::vector<std::string>>& names, json& config) {
  for (const auto& [canonical, others] : names) {
    for (const std::string& other : others) {
      const auto value = config.find(other);
      if (value == config.end()) continue;
      const json moved = *value;
      config.erase(other);
      if (!config.contains(canonical) || config.at(canonical).is_null()) config[canonical] = moved;
    }
  }
}

}  // namespace

json CanonicalConfig(json config, bool is_inside) {
  const auto given = config.find("model_type");
  const bool is_named = given != config.end() && given->is_string();
  const std::string type = is_named ? given->get<std::string>() : "";
  const json* entry = is_named ? PlannedEntry(type) : nullptr;
  if (entry != nullptr) {
    ListRatios(config);
    RenameKinds(*entry, config);
    Flatten(*entry, config);
    if (entry->contains("recurrence") || entry->contains("lifts")) {
      LiftSizes(config);
      DropAutomaticSizes(config);
    }
    DropFurtherLayers(config);
    for (const std::string key : entry->value("ignored", json::array())) config.erase(key);
    Rename(entry->value("keys", std::map<std::string, std::vector<std::string>>()), config);
  }
  Rename(Architectures().names, config);
  if (entry != nullptr) KeepTextAlone(*entry, config);
  MergeEqualSizes(config);
  const auto window = config.find("sliding_window");
  if (window != config.end() && IsOff(*window)) config.erase(window);
  if (entry == nullptr) return config;
  const json defaults = entry->value("defaults", json::object());
  for (const auto& [key, value] : defaults.items()) config.emplace(key, value);
  AddClassDefaults(type, is_inside, config);
  if (entry->value("layers_in_halves", false)) SplitLayers(config);
  return config;
}

}  // namespace meshwright::planner
