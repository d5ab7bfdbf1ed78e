#include "planner/catalog/other_names.h"

#include "absl/strings/ascii.h"
#include "base/text/string_view.h"
#include "planner/codec/json_fields.h"

namespace meshwright::planner {

OtherNames::OtherNames(std::string_view what, std::string_view text) {
  const absl::StatusOr<nlohmann::json> names = ParseJsonObject(what, text);
  if (!names.ok()) return;
  JsonFields fields(*names);
  for (const auto& [preset, unused] : names->items()) {
    by_preset_[preset] = fields.StringsOr(preset);
  }
}

std::string OtherNames::PresetOf(std::string_view name) const {
  const std::string lower = absl::AsciiStrToLower(AbslView(name));
  for (const auto& [preset, others] : by_preset_) {
    for (const std::string& other : others) {
      if (other == lower) return preset;
    }
  }
  return "";
}

std::vector<std::string> OtherNames::Of(std::string_view preset) const {
  const auto found = by_preset_.find(preset);
  return found == by_preset_.end() ? std::vector<std::string>() : found->second;
}

}  // namespace meshwright::planner
