#include "absl/strings/str_cat.h"
#include "base/text/field_error.h"
#include "base/text/json_text.h"
#include "base/text/status_macros.h"
#include "planner/interchange/config_entry.h"

namespace meshwright::planner {
namespace {

std::string JoinedName(const std::string& around, const std::string& name) {
  return around.empty() ? name : absl::StrCat(around, ".", name);
}

void AddJson(const nlohmann::ordered_json& object, const std::string& around,
             std::vector<ConfigEntry>& entries) {
  for (const auto& [name, value] : object.items()) {
    if (entries.size() > kMostEntries) return;
    if (value.is_object()) {
      AddJson(value, JoinedName(around, name), entries);
    } else if (value.is_string()) {
      entries.push_back({JoinedName(around, name), value.get<std::string>()});
    } else {
      entries.push_back({JoinedName(around, name), value.dump()});
    }
  }
}

}  // namespace

absl::StatusOr<std::vector<ConfigEntry>> ReadJsonEntries(const ConfigFile& file) {
  ASSIGN_OR_RETURN(const nlohmann::ordered_json json,
                   ParseOrderedJson(file.path, file.text, kMaxSpecBytes));
  if (!json.is_object()) return FieldError("file", file.path, "must be a JSON object");
  std::vector<ConfigEntry> entries;
  AddJson(json, "", entries);
  if (entries.size() > kMostEntries) {
    return FieldError("file", file.path, absl::StrCat("must have at most ", kMostEntries, " keys"));
  }
  return entries;
}

}  // namespace meshwright::planner
