#include "planner/catalog/profile_names.h"

#include <map>

#include "absl/strings/ascii.h"
#include "base/text/json_text.h"
#include "base/text/string_view.h"
#include "planner/codec/json_fields.h"
#include "planner/data/embedded.h"

namespace meshwright::planner {
namespace {

struct NamedProfile {
  std::string framework;
  std::vector<std::string> names;
};

using NamedProfiles = std::map<std::string, NamedProfile, std::less<>>;  // by profile

NamedProfiles ReadNamedProfiles() {
  NamedProfiles profiles;
  const absl::StatusOr<nlohmann::json> file =
      ParseJsonObject("profile_names", EmbeddedProfileNames().front().text);
  if (!file.ok()) return profiles;
  for (const auto& [profile, entry] : file->items()) {
    JsonFields fields(entry);
    profiles[profile] = {fields.StringOr("framework", ""), fields.StringsOr("names")};
  }
  return profiles;
}

const NamedProfiles& AllNamedProfiles() {
  static const NamedProfiles* const kProfiles = new NamedProfiles(ReadNamedProfiles());
  return *kProfiles;
}

// Returns the name as the file spells it: "LLaMA_Factory" and "llama factory" are "llama-factory".
std::string SpeltAsInTheFile(std::string_view name) {
  std::string text = absl::AsciiStrToLower(AbslView(name));
  for (char& letter : text) {
    if (letter == '_' || letter == ' ') letter = '-';
  }
  return text;
}

}  // namespace

std::string ProfileNamed(std::string_view name) {
  const std::string spelt = SpeltAsInTheFile(name);
  for (const auto& [profile, named] : AllNamedProfiles()) {
    if (spelt == profile && name != profile) return profile;
    for (const std::string& other : named.names) {
      if (other == spelt) return profile;
    }
  }
  return "";
}

std::vector<std::string> OtherNamesOfProfile(std::string_view profile) {
  const auto found = AllNamedProfiles().find(profile);
  return found == AllNamedProfiles().end() ? std::vector<std::string>() : found->second.names;
}

std::string FrameworkOfProfile(std::string_view profile) {
  const auto found = AllNamedProfiles().find(profile);
  return found == AllNamedProfiles().end() ? "" : found->second.framework;
}

}  // namespace meshwright::planner
