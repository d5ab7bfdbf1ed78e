#include "planner/catalog/canonical_config.h"

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
    for (const std::string key : entry->value("ignored", json::array())) config.erase(key);
    Rename(entry->value("keys", std::map<std::string, std::vector<std::string>>()), config);
  }
  Rename(Architectures().names, config);
  const auto window = config.find("sliding_window");
  if (window != config.end() && IsOff(*window)) config.erase(window);
  if (entry == nullptr) return config;
  const json defaults = entry->value("defaults", json::object());
  for (const auto& [key, value] : defaults.items()) config.emplace(key, value);
  return config;
}

}  // namespace meshwright::planner
