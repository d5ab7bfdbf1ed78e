#include "planner/interchange/framework.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/text/bare_name.h"
#include "base/text/field_error.h"
#include "base/text/message_text.h"
#include "base/text/string_view.h"
#include "planner/catalog/profile_names.h"

namespace meshwright::planner {
namespace {

bool IsDescribedBy(const Framework& framework, std::string_view profile) {
  if (framework.profile == profile) return true;
  for (const absl::string_view further :
       absl::StrSplit(AbslView(framework.further_profiles), ' ')) {
    if (!further.empty() && StdView(further) == profile) return true;
  }
  return false;
}

}  // namespace

const std::vector<const Framework*>& Frameworks() {
  static const std::vector<const Framework*> frameworks = {
      &MegatronFramework(),   &BridgeFramework(),    &TorchtitanFramework(),
      &AccelerateFramework(), &DeepspeedFramework(), &LlamaFactoryFramework(),
      &AxolotlFramework(),    &SwiftFramework(),     &VerlFramework(),
      &AutomodelFramework(),  &NanotronFramework()};
  return frameworks;
}

bool WritesSetting(const Framework& framework, std::string_view setting) {
  for (size_t i = 0; i < framework.written; ++i) {
    for (const NameRow& row : framework.tables[i]) {
      if (row.use != NameUse::kImport && row.setting == setting) return true;
    }
  }
  return false;
}

std::vector<const Framework*> FrameworksNamed(std::string_view name) {
  const std::string bare = BareName(name);
  for (const Framework* framework : Frameworks()) {
    if (BareName(framework->name) == bare) return {framework};
  }
  const std::string stands_for = ProfileNamed(name);
  const std::string_view profile = stands_for.empty() ? name : std::string_view(stands_for);
  std::vector<const Framework*> named;
  for (const Framework* framework : Frameworks()) {
    if (IsDescribedBy(*framework, profile)) named.push_back(framework);
  }
  return named;
}

std::string FrameworkNamesInWords() {
  std::vector<std::string_view> names;
  for (const Framework* framework : Frameworks()) names.push_back(framework->name);
  return ListInWords(names, "or");
}

absl::StatusOr<const Framework*> FindFramework(std::string_view flag, std::string_view name) {
  const std::vector<const Framework*> named = FrameworksNamed(name);
  if (!named.empty()) return named.front();
  return FieldError(flag, name, absl::StrCat("must be ", FrameworkNamesInWords()));
}

}  // namespace meshwright::planner
