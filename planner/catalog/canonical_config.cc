#include "planner/catalog/canonical_config.h"

#include <cstddef>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "planner/catalog/architecture_table.h"
#include "planner/catalog/key_rule.h"

namespace meshwright::planner {
namespace {

using nlohmann::json;

void Flatten(const json& entry, json& config) {
  for (const std::string name : entry.value("flatten", json::array())) {
    const auto inner = config.find(name);
    if (inner == config.end() || !inner->is_object()) continue;
    const json object = *inner;
    config.erase(name);
    for (const auto& [key, value] : object.items()) config.emplace(key, value);
  }
}

// Kimi Linear keeps the sizes of its recurrent layers in an object of their own, and Step those of
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

// Step's lists have an item for each layer that predicts a further token, too, and one rope base a
// layer, of which the first is that of layers that see the whole sequence.
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

// Of a key that has a value for each modality, that of text comes first.
void KeepTextAlone(const json& entry, json& config) {
  for (const std::string key : entry.value("first_of", json::array())) {
    const auto value = config.find(key);
    if (value == config.end() || !value->is_array() || value->empty()) continue;
    const json first = value->front();
    *value = first;
  }
}

// A name whose value is null says nothing.
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

json CanonicalConfig(json config) {
  const auto type = config.find("model_type");
  const bool is_named = type != config.end() && type->is_string();
  const json* entry = is_named ? PlannedEntry(type->get<std::string>()) : nullptr;
  if (entry != nullptr) {
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
  const auto window = config.find("sliding_window");
  if (window != config.end() && IsOff(*window)) config.erase(window);
  if (entry == nullptr) return config;
  const json defaults = entry->value("defaults", json::object());
  for (const auto& [key, value] : defaults.items()) config.emplace(key, value);
  return config;
}

}  // namespace meshwright::planner
