#include "planner/catalog/profile_names.h"

#include "planner/catalog/other_names.h"
#include "planner/data/embedded.h"

namespace meshwright::planner {
namespace {

const OtherNames& AllProfileNames() {
  static const OtherNames* const kNames =
      new OtherNames("profile_names", EmbeddedProfileNames().front().text);
  return *kNames;
}

}  // namespace

std::string ProfileNamed(std::string_view name) { return AllProfileNames().PresetOf(name); }

std::vector<std::string> OtherNamesOfProfile(std::string_view profile) {
  return AllProfileNames().Of(profile);
}

}  // namespace meshwright::planner
