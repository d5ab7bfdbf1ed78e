#include "planner/catalog/python_json.h"

#include <limits>
#include <string>
#include <utility>

#include "base/text/status_macros.h"
#include "planner/codec/json_fields.h"

namespace meshwright::planner {
namespace {

using nlohmann::json;

// Each number is as long as the word that it replaces, so that positions in messages stay right.
constexpr std::string_view kInfinity = "Infinity";
constexpr std::string_view kLargest = "1.79e308";
constexpr std::string_view kNan = "NaN";
constexpr std::string_view kNothing = "0.0";

// Returns the text with numbers that JSON has.
std::string WithNumbers(std::string_view text) {
  std::string changed(text);
  bool quoted = false;
  for (size_t i = 0; i < changed.size(); ++i) {
    if (quoted && changed[i] == '\\') {
      ++i;
    } else if (changed[i] == '"') {
      quoted = !quoted;
    } else if (!quoted && text.substr(i).starts_with(kInfinity)) {
      changed.replace(i, kInfinity.size(), kLargest);
    } else if (!quoted && text.substr(i).starts_with(kNan)) {
      changed.replace(i, kNan.size(), kNothing);
    }
  }
  return changed;
}

void ReplaceFloats(json& value) {
  if (!value.is_structured()) return;
  const auto text = value.is_object() && value.size() == 1 ? value.find("__float__") : value.end();
  if (text != value.end() && text->is_string()) {
    const std::string name = *text;
    value = name == kInfinity     ? json(std::numeric_limits<double>::max())
            : name == "-Infinity" ? json(std::numeric_limits<double>::lowest())
                                  : json(0.0);
    return;
  }
  for (json& member : value) ReplaceFloats(member);
}

}  // namespace

absl::StatusOr<json> ParsePythonJsonObject(std::string_view what, std::string_view text) {
  ASSIGN_OR_RETURN(json parsed, ParseJsonObject(what, WithNumbers(text)));
  ReplaceFloats(parsed);
  return parsed;
}

}  // namespace meshwright::planner
