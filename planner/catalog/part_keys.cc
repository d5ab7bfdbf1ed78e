#include "planner/catalog/part_keys.h"

#include <string>

#include "base/text/message_text.h"
#include "planner/catalog/config_keys.h"

namespace meshwright::planner {

using nlohmann::json;

FileKeys ReadFileKeys(const json& config) {
  FileKeys read;
  const auto type = config.find("model_type");
  if (type != config.end() && type->is_string()) {
    read.model_type = ShortenedName(EscapeControls(type->get<std::string>()));
  }
  // If the file has several of these keys, the key of the first row counts.
  for (const KeyRow& row : ConfigKeys()) {
    if (row.parts.empty()) continue;
    for (const auto& [key, value] : config.items()) {
      if (IsOff(value) || FindConfigKey(key) != &row) continue;
      for (const std::string& part : row.parts) {
        read.of_parts.push_back({part, EscapeControls(key), EscapeControls(ShownValue(value))});
      }
    }
  }
  return read;
}

}  // namespace meshwright::planner
