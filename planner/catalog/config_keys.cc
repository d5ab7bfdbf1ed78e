#include "planner/catalog/config_keys.h"

#include <map>

#include "base/text/json_text.h"
#include "planner/catalog/architecture_table.h"
#include "planner/data/embedded.h"

namespace meshwright::planner {
namespace {

using nlohmann::json;

constexpr const char* kUsers[kKeyUsers] = {"estimate", "trial", "megatron", "torchtitan"};
constexpr std::pair<std::string_view, KeyEffect> kEffects[] = {
    {"nothing", KeyEffect::kNothing}, {"notes", KeyEffect::kNotes},
    {"counts", KeyEffect::kCounts},   {"runs", KeyEffect::kRuns},
    {"writes", KeyEffect::kWrites},   {"refuses", KeyEffect::kRefuses}};
constexpr std::string_view kWithKey = "with ";

KeyUse ReadUse(const std::string& text) {
  for (const auto& [name, effect] : kEffects) {
    if (text == name) return {.effect = effect};
  }
  if (text.starts_with(kWithKey)) {
    return {.effect = KeyEffect::kWith, .text = text.substr(kWithKey.size())};
  }
  return {.effect = KeyEffect::kFlags, .text = text};
}

// `keys` is an object with an example for each key, or a list of keys.
KeyRow ReadRow(json row, bool of_families) {
  std::vector<std::string> names;
  KeyRow read;
  const json keys = row.at("keys");
  for (const auto& [key, value] : keys.items()) {
    names.push_back(keys.is_object() ? key : value.get<std::string>());
    read.examples.push_back(keys.is_object() ? value : json());
  }
  row["keys"] = names;
  read.rule = ReadKeyRule(row);
  read.of = row.value("of", "llama");
  if (row.contains("beyond")) read.beyond = row.at("beyond").get<int64_t>();
  read.parts = row.value("parts", std::vector<std::string>());
  read.of_families = of_families;
  read.is_spare = row.value("spare", false);
  for (size_t user = 0; user < kKeyUsers; ++user) read.uses[user] = ReadUse(row.at(kUsers[user]));
  return read;
}

// The file is compiled in, and a test reads the whole file, so there are no errors to report.
std::vector<KeyRow> ReadRows() {
  const json file = ParseJson("config_keys", EmbeddedConfigKeys().front().text).value();
  std::vector<KeyRow> rows;
  for (const json& row : file.at("rows")) rows.push_back(ReadRow(row, false));
  for (const json& row : file.at("rows_of_families")) rows.push_back(ReadRow(row, true));
  return rows;
}

using RowsByKey = std::map<std::string, const KeyRow*, std::less<>>;

void AddNames(const json& names, RowsByKey& rows) {
  for (const auto& [canonical, others] : names.items()) {
    const auto row = rows.find(canonical);
    if (row == rows.end()) continue;
    for (const std::string other : others) rows.emplace(other, row->second);
  }
}

RowsByKey IndexRows() {
  RowsByKey rows;
  for (const KeyRow& row : ConfigKeys()) {
    for (const std::string& key : row.rule.keys) rows.emplace(key, &row);
  }
  const ArchitectureTable& table = Architectures();
  AddNames(table.names, rows);
  for (const auto& [object, names] : table.lifted.items()) {
    for (const auto& [name, canonical] : names.items()) {
      if (const auto row = rows.find(canonical.get<std::string>()); row != rows.end()) {
        rows.emplace(name, row->second);
      }
    }
  }
  for (const auto& [model_type, entry] : table.planned) {
    AddNames(entry.value("keys", json::object()), rows);
  }
  return rows;
}

}  // namespace

bool KeyRow::IsSetAside() const {
  const KeyEffect estimate = For(KeyUser::kEstimate).effect;
  if (estimate != KeyEffect::kNothing && estimate != KeyEffect::kNotes) return false;
  const auto says = [this](KeyUser user) {
    const KeyEffect effect = For(user).effect;
    return effect != KeyEffect::kNothing && effect != KeyEffect::kWith;
  };
  return says(KeyUser::kMegatron) || says(KeyUser::kTorchtitan);
}

const std::vector<KeyRow>& ConfigKeys() {
  static const auto* const kRows = new std::vector<KeyRow>(ReadRows());
  return *kRows;
}

const KeyRow* FindConfigKey(std::string_view key) {
  static const auto* const kIndex = new RowsByKey(IndexRows());
  auto row = kIndex->find(key);
  if (row == kIndex->end()) row = kIndex->find(key.substr(key.rfind('.') + 1));
  return row == kIndex->end() ? nullptr : row->second;
}

}  // namespace meshwright::planner
