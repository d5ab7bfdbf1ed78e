#include "planner/catalog/architecture_table.h"

#include <utility>

#include "base/text/json_text.h"
#include "planner/data/embedded.h"

namespace meshwright::planner {
namespace {

using nlohmann::json;

// Returns the entry with its templates merged in; its own members take precedence.
json WithTemplates(json entry, const json& templates) {
  while (entry.contains("like")) {
    const json& like = templates.at(entry.at("like").get<std::string>());
    entry.erase("like");
    json merged = like;
    merged.update(entry);
    entry = std::move(merged);
  }
  return entry;
}

std::vector<KeyRule> ReadKeyRules(const json& rules) {
  std::vector<KeyRule> read;
  for (const json& rule : rules) read.push_back(ReadKeyRule(rule));
  return read;
}

void AddParts(const json& entry, ArchitectureTable& table) {
  for (const std::string id : entry.value("has", json::array())) table.planned_parts.insert(id);
}

void AddFamily(const json& planned, const json& templates, ArchitectureTable& table) {
  const json entry = WithTemplates(planned, templates);
  table.planned.emplace(entry.at("model_type"), entry);
  AddParts(entry, table);
  for (const std::string name : entry.value("also", json::array())) {
    table.planned.emplace(name, entry);
  }
  for (const json& choice : entry.value("switches", json::array())) {
    table.family_keys.insert(choice.at("key").get<std::string>());
  }
  const json same = entry.value("same_as", json::object());
  for (const auto& pair : same.items()) table.family_keys.insert(pair.key());
  for (const json& rule : entry.value("needs", json::array())) {
    for (const std::string key : rule.at("keys")) table.family_keys.insert(key);
  }
}

void AddGeneralKeys(ArchitectureTable& table) {
  for (const json& choice : table.structure) {
    table.general_keys.insert(choice.at("key").get<std::string>());
  }
  for (const std::string key : table.activations.at("keys")) table.general_keys.insert(key);
  table.general_keys.insert(table.towers.begin(), table.towers.end());
  table.general_keys.insert(table.language_models.begin(), table.language_models.end());
  for (const auto& [id, part] : table.missing) {
    for (const KeyRule& rule : part.rules) {
      table.general_keys.insert(rule.keys.begin(), rule.keys.end());
    }
  }
}

// The file is compiled in, and a test reads the whole file, so there are no errors to report.
ArchitectureTable ReadTable() {
  const json file = ParseJson("architectures", EmbeddedArchitectures().front().text).value();
  ArchitectureTable table;
  for (const json& planned : file.at("planned")) AddFamily(planned, file.at("templates"), table);
  table.unknown = file.at("unknown");
  table.names = file.at("names");
  table.class_defaults = ParseJson("class_defaults", EmbeddedClassDefaults().front().text).value();
  table.lifted = file.at("lifted");
  table.layer_kinds = file.at("layer_kinds");
  table.structure = file.at("structure");
  table.activations = file.at("activations");
  for (const auto& [id, entry] : file.at("missing").items()) {
    table.missing.emplace(id,
                          MissingPart{.text = entry.at("text"),
                                      .rules = ReadKeyRules(entry.value("rules", json::array()))});
  }
  for (const json& entry : file.at("families")) {
    for (const std::string model_type : entry.at("model_types")) {
      table.families.emplace(model_type, entry.at("missing"));
    }
  }
  table.language_models = file.at("language_models");
  table.towers = file.at("towers");
  table.ignored_endings = file.at("ignored_endings");
  AddGeneralKeys(table);
  return table;
}

}  // namespace

const ArchitectureTable& Architectures() {
  static const ArchitectureTable* const kTable = new ArchitectureTable(ReadTable());
  return *kTable;
}

const json* PlannedEntry(const std::string& model_type) {
  const auto& planned = Architectures().planned;
  const auto entry = planned.find(model_type);
  return entry == planned.end() ? nullptr : &entry->second;
}

}  // namespace meshwright::planner
