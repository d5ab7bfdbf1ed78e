#include "planner/catalog/profile_names.h"

#include <map>

#include "absl/strings/ascii.h"
#include "base/text/json_text.h"
#include "base/text/string_view.h"
#include "planner/codec/json_fields.h"
#include "planner/data/embedded.h"

namespace meshwright::planner {
namespace {

using OtherNames = std::map<std::string, std::vector<std::string>, std::less<>>;  // by profile

OtherNames ReadOtherNames() {
  OtherNames others;
  const absl::StatusOr<nlohmann::json> names =
      ParseJsonObject("profile_names", EmbeddedProfileNames().front().text);
  if (!names.ok()) return others;
  JsonFields fields(*names);
  for (const auto& [profile, unused] : names->items()) {
    others[profile] = fields.StringsOr(profile);
  }
  return others;
}

const OtherNames& AllOtherNames() {
  static const OtherNames* const kNames = new OtherNames(ReadOtherNames());
  return *kNames;
}

}  // namespace

std::string ProfileNamed(std::string_view name) {
  const std::string lower = absl::AsciiStrToLower(AbslView(name));
  for (const auto& [profile, others] : AllOtherNames()) {
    for (const std::string& other : others) {
      if (other == lower) return profile;
    }
  }
  return "";
}

std::vector<std::string> OtherNamesOfProfile(std::string_view profile) {
  const auto found = AllOtherNames().find(profile);
  return found == AllOtherNames().end() ? std::vector<std::string>() : found->second;
}

}  // namespace meshwright::planner
